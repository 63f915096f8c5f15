#!/bin/sh
# Asks a question, keeps the signed receipt of its answer, and verifies it without the gateway.
# NEARHIT_URL=http://127.0.0.1:8080 NEARHIT_KEY=… sh receipt.sh "how many days of leave do I get?"
# The operator has set NEARHIT_RECEIPTS_KEYS.
set -eu

folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cd "$folder"

printf '{"query": "%s"}' "$1" > request.json
curl --silent --show-error --fail --dump-header headers.txt --output answer.json \
  "$NEARHIT_URL/v1/search" -H "Authorization: Bearer $NEARHIT_KEY" -H "Prefer: receipt" \
  --data-binary @request.json
curl --silent --show-error --fail --output keys.json "$NEARHIT_URL/v1/receipts/keys"
sed -n 's/^nearhit-receipt: //p' headers.txt > receipt.txt
nearhit verify receipt.txt --keys keys.json --answer answer.json --request request.json
