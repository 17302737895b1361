"""refused(CALL, TEXT): attnlab refuses the call with these words."""
import attnlab


def refused(call, text):
    try:
        call()
    except attnlab.KernelError as e:
        assert text in str(e), e
    else:
        raise AssertionError(f'not refused: {text}')
