// A small flow with the client that the registry's tools write, and what its types refuse.
import assert from "node:assert/strict";
import createClient from "openapi-fetch";
import type { components, paths } from "./farthing.js";

const { FARTHING_URL = "", FARTHING_API_KEY = "", FARTHING_TENANT = "" } = process.env;
const keyed = createClient<paths>({ baseUrl: FARTHING_URL, headers: { "X-Token": FARTHING_API_KEY } });

// A token, a customer, two accounts and a card.
const token = await keyed.POST("/v1/customers/{id}/tokens", { params: { path: { id: FARTHING_TENANT } } });
assert(token.data);
const client = createClient<paths>({
  baseUrl: FARTHING_URL,
  headers: { "X-Token": token.data.accessToken },
});

const ada = await client.POST("/v1/customers", { body: { type: "INDIVIDUAL", name: "Ada", tags: ["vip"] } });
assert(ada.data);
const ownerId = ada.data.id;

async function open(): Promise<components["schemas"]["AccountView"]> {
  const { data, error } = await client.POST("/v1/accounts", { body: { ownerId, currencyISO: "GBP" } });
  if (error) throw new Error(error.detail);
  return data;
}
const [purse, savings] = [await open(), await open()];

const card = await client.POST("/v1/cards", {
  body: {
    ownerId,
    cardNumber: "4242424242424242",
    expiry: "1230",
    cvv: "123",
    billingAddress: { countryISO: "GB" },
    setAsPreferred: true,
  },
});
assert.equal(card.data?.cardNumberSuffix, "4242");
assert.equal(card.data?.stateId, "ENABLED");

// A charge, which is done once however often it is asked for.
function charge() {
  return client.POST("/v1/tx/inbound", {
    params: { header: { "Idempotency-Key": "charge-1" } },
    body: { accountId: purse.id, amount: "2500", method: "card", purpose: "DEPOSIT" },
  });
}
const first = await charge();
const again = await charge();
assert(first.data);
assert.deepEqual(again.data, first.data);
assert.equal(again.response.headers.get("Idempotency-Replayed"), "true");

// An identifier has a slash, which the tool encodes and the service takes so.
const id = first.data.id.replace("transaction/", "tx/");
let stateId = first.data.stateId;
while (stateId !== "EFFECTED") {
  const { data } = await client.GET("/v1/tx/{id}", { params: { path: { id } } });
  assert(data && data.stateId !== "FAILED" && data.stateId !== "ERRORED");
  stateId = data.stateId;
}

// A transfer between the accounts.
const transfer = await client.POST("/v1/tx/internal", {
  body: { fromAccountId: purse.id, toAccountId: savings.id, amount: "1000", purpose: "TRANSFER" },
});
assert.equal(transfer.data?.stateId, "EFFECTED");
const after = await client.GET("/v1/accounts/{id}", { params: { path: { id: savings.id } } });
assert.equal(after.data?.availableBalance, "1000");

// A list, page by page, with the newest first.
const amounts: string[] = [];
let cursor: string | undefined;
do {
  const query = { limit: 1, ...(cursor && { cursor }) };
  const { data } = await client.GET("/v1/tx", { params: { query } });
  assert(data);
  amounts.push(...data.results.map((one) => one.amount));
  cursor = data.nextCursor;
} while (cursor);
assert.deepEqual(amounts, ["1000", "2500"]);

// An error is handled by its code, which is one of those that the operation declares.
const refused = await client.POST("/v1/tx/internal", {
  body: { fromAccountId: purse.id, toAccountId: savings.id, amount: "999999", purpose: "TRANSFER" },
});
assert(refused.error);
switch (refused.error.code) {
  case "insufficient_funds": {
    const status: 409 = refused.error.status;
    assert.equal(status, refused.response.status);
    break;
  }
  // @ts-expect-error: no operation answers so.
  case "insufficient_fun":
  default:
    assert.fail(refused.error.detail);
}
const faulty = await client.POST("/v1/accounts", { body: { ownerId: "Ada", currencyISO: "GBP" } });
assert(faulty.error?.code === "validation_failed");
assert.deepEqual(faulty.error.errors?.map((one) => one.pointer), ["/ownerId"]);

// What is wrong is seen before it runs: each of these would be an error, and is never called.
export const wrong = [
  // @ts-expect-error: no such address.
  () => client.GET("/v1/purses"),
  // @ts-expect-error: the identifier is missing.
  () => client.GET("/v1/accounts/{id}"),
  // @ts-expect-error: an amount is a text of digits.
  () => client.POST("/v1/sandbox/tx/{id}/dispute", { params: { path: { id } }, body: { amount: 5 } }),
  // @ts-expect-error: no such currency.
  () => client.POST("/v1/accounts", { body: { ownerId, currencyISO: "QQQ" } }),
  // @ts-expect-error: only a rail that has a mood can change it.
  () => client.POST("/v1/sandbox/rail", { body: { seconds: 5 } }),
  // @ts-expect-error: nobody can move a transaction there.
  () => client.PATCH("/v1/tx/{id}/state", { params: { path: { id } }, body: { toStateId: "DISPUTED" } }),
  // @ts-expect-error: the number never comes back.
  () => card.data?.cardNumber,
];
console.log("The flow went through.");
