"""Whether a folder can be written, asked before minutes of grading."""
import tempfile


def unwritable(folder):
    """Why nothing can be written there, or None. Makes the folder."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(65536))
    except OSError as why:
        return why.strerror
    return None
