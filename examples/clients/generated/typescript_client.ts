// Writes, searches and subscribes with types that `openapi-typescript` has generated.
//
//   curl -s "$NEARHIT_URL/openapi.json" -o openapi.json
//   npm ci
//   npx openapi-typescript openapi.json -o nearhit.d.ts --default-non-nullable=false
//   npx tsc
//   NEARHIT_URL=http://127.0.0.1:8080 NEARHIT_KEY=… node typescript_client.js

import createClient from "openapi-fetch";
import type { components, paths } from "./nearhit.js";

type AnswerEvent = components["schemas"]["AnswerEventData"];
type Plan = components["schemas"]["SearchPlanBody"];

const QUERY = "how many days of annual leave?";
const PLAN: Plan = {
  steps: [
    { name: "leave", query: QUERY },
    { name: "days", query: "25 days", filter: { documents: { from: "leave.document_ids" } } },
  ],
};

const nearhit = createClient<paths>({
  baseUrl: process.env.NEARHIT_URL,
  headers: { Authorization: `Bearer ${process.env.NEARHIT_KEY}` },
});

// The data of a call, or its problem as an error.
function dataOf<T>(result: { data?: T; error?: { title: string; detail: string } }): T {
  if (result.data === undefined) {
    throw new Error(`${result.error?.title}: ${result.error?.detail}`);
  }
  return result.data;
}

async function* events(subscriptionId: string): AsyncGenerator<AnswerEvent> {
  const { data } = await nearhit.GET("/v1/subscriptions/{subscription_id}/events", {
    params: { path: { subscription_id: subscriptionId } },
    parseAs: "stream",
  });
  let text = "";
  for await (const part of data!.pipeThrough(new TextDecoderStream())) {
    text += part;
    const lines = text.split("\n");
    text = lines.pop() ?? "";
    for (const line of lines) {
      if (line.startsWith("data: ")) {
        yield JSON.parse(line.slice("data: ".length)) as AnswerEvent;
      }
    }
  }
}

const document = { path: { document_id: "generated/leave" } };
dataOf(
  await nearhit.PUT("/v1/documents/{document_id}", {
    params: document,
    body: { text: "Everybody gets 25 days of annual leave." },
  }),
);
try {
  const answer = dataOf(await nearhit.POST("/v1/search", { body: { query: QUERY, top_k: 1 } }));
  console.log("search:", answer.hits[0]?.document_id, answer.hits[0]?.text);

  const plan = dataOf(await nearhit.POST("/v1/search/plan", { body: PLAN }));
  console.log("plan:", ...plan.steps.map((step) => `${step.name}: ${step.answer.hits[0]?.document_id}`));

  const subscription = dataOf(
    await nearhit.POST("/v1/subscriptions", {
      body: { search: { query: QUERY }, deliver: { hits: "changes" } },
    }),
  );
  for await (const event of events(subscription.id)) {
    console.log("event:", event.number, ...(event.hits?.added ?? []).map((hit) => hit.document_id));
    break;
  }
  const path = { subscription_id: subscription.id };
  await nearhit.DELETE("/v1/subscriptions/{subscription_id}", { params: { path } });
} finally {
  await nearhit.DELETE("/v1/documents/{document_id}", { params: document });
}
