# Completes attnlab's verbs, stages and labs behind `make` and `attnlab`. To have it in every session, write this line
# into ~/.bashrc or ~/.zshrc, with the folder of your clone:
#
#     source /path/to/attnlab/setup/completion.sh
#
# Elsewhere than in a clone, `make` completes as before.
if [ -n "${ZSH_VERSION-}" ]; then
    autoload -U +X compinit bashcompinit
    compinit -u
    bashcompinit
fi

_attnlab() {
    local help=setup/help.sh word=${COMP_WORDS[COMP_CWORD]}
    [ "$1" != attnlab ] || help=$(dirname "$(readlink -f "$(command -v attnlab)")")/../../setup/help.sh
    if [ -x "$help" ]; then
        COMPREPLY=($(compgen -W "$("$help" verbs)" -- "$word"))
    elif declare -F _make > /dev/null; then
        _make "$@"
    fi
}
complete -o bashdefault -o default -F _attnlab make attnlab
