#!/bin/sh
# An agent with the tools of ./tools: agent.sh TASK.json "What do my notes say of Oslo?"
# On a terminal it asks before a tool runs. TASK.json keeps the conversation, so the next words go on from there.
toolstream agent --show --with text,calls,results --tools ./tools --approve "${APPROVE:-ask}" --deadline 600 \
    -i "$1" --for "$FORMAT" --model "$MODEL" --user "$2" -- curl -isSN "$URL" -H @headers --json @-
status=$?
[ $status != 6 ] || echo "It took too long, or went in circles: look at $1" >&2
exit $status
