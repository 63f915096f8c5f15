// Writes, searches in steps, and hears of the answer, with the package `nearhit-client`.
//
//   npm install nearhit-client typescript @types/node
//   npx tsc --module nodenext --target es2022 --strict typescript_client.ts
//   NEARHIT_URL=http://127.0.0.1:8080 NEARHIT_KEY=… node typescript_client.js

import { Client, NearhitError } from "nearhit-client";

const QUERY = "how many days of annual leave?";
const nearhit = new Client({ url: process.env.NEARHIT_URL!, key: process.env.NEARHIT_KEY });

await nearhit.putDocument("team/leave", { text: "Everybody gets 25 days of annual leave." });
try {
  const answer = await nearhit.search({ query: QUERY, top_k: 1 });
  console.log("search:", answer.hits[0]?.document_id, answer.hits[0]?.text);

  const plan = await nearhit.searchPlan({
    steps: [
      { name: "leave", query: QUERY },
      { name: "days", query: "25 days", filter: { documents: { from: "leave.document_ids" } } },
    ],
  });
  console.log("plan:", ...plan.steps.map((step) => `${step.name}: ${step.answer.hits[0]?.document_id}`));

  const subscription = await nearhit.createSubscription({
    search: { query: QUERY },
    deliver: { hits: "changes" },
  });
  for await (const event of nearhit.events(subscription.id)) {
    console.log("event:", event.data.number, event.data.hits.added[0].document_id);
    break;
  }
  await nearhit.deleteSubscription(subscription.id);
} finally {
  await nearhit.deleteDocument("team/leave");
}

try {
  await nearhit.getDocument("team/leave");
} catch (error) {
  if (!(error instanceof NearhitError)) throw error;
  console.log("problem:", error.status, error.kind);
}
