#!/bin/sh
# One question, and many in one call.
# NEARHIT_URL=http://127.0.0.1:8080 NEARHIT_KEY=… sh curl.sh "how many days of leave do I get?"
set -eu

curl --silent --show-error --fail "$NEARHIT_URL/v1/search" \
  -H "Authorization: Bearer $NEARHIT_KEY" \
  -d "{\"query\": \"$1\", \"top_k\": 3}"
echo

curl --silent --show-error --fail "$NEARHIT_URL/v1/search/batch" \
  -H "Authorization: Bearer $NEARHIT_KEY" \
  -d "{\"searches\": [{\"query\": \"$1\", \"top_k\": 1}, {\"query\": \"travel\", \"top_k\": 1}]}"
echo
