#!/bin/sh
# Reviews a branch in CI: review.sh origin/main. Fails if the model says so. If the provider is busy, it does not.
review=$(git diff "$1...HEAD" | toolstream agent --show --retries "${RETRIES:-4}" --deadline 600 --user - \
    --for "$FORMAT" --model "$MODEL" --system "Review this diff. The last line is PASS or FAIL, alone." \
    -- curl -isSN "$URL" -H @headers --json @-)
case $? in
    0) printf '%s\n' "$review" ;;
    4|9) echo "The provider is busy: no review."; exit ;;
    *) exit 1 ;;
esac
[ "$(printf '%s\n' "$review" | tail -n 1)" = PASS ]
