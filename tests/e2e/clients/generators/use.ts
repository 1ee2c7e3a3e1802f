// What a program does with clients that three generators make of the tools: it must compile, and print what is expected.
import createClient from "openapi-fetch";

import type { paths } from "./fetched";
import { client as hey } from "./hey/client.gen";
import * as byHey from "./hey/sdk.gen";
import * as byOrval from "./orval";

declare const process: { env: Record<string, string | undefined> };
const baseUrl = process.env["SIDECALL_URL"] ?? "";
const say = (...words: unknown[]): void => console.log(JSON.stringify(words));

const fetched = createClient<paths>({ baseUrl });
hey.setConfig({ baseUrl });

/** Whether a call that may wait for a person does so. */
const waits = (answer: unknown): boolean => typeof answer === "object" && answer !== null && "tool_call" in answer;

async function useFetched(): Promise<void> {
  const { data } = await fetched.POST("/tools/double/call", { body: { number: 4 } });
  // A tool that cannot wait has its plain result as its type.
  const eight: number | undefined = data;
  const wrong = await fetched.POST("/tools/double/call", { body: { number: -1 } });
  const detail: string | null | undefined = wrong.error?.detail;
  const asked = await fetched.POST("/tools/refund/call", { body: { order: 7 } });
  say("openapi-typescript", eight, wrong.response.status, detail, asked.response.status, waits(asked.data));
}

async function useHey(): Promise<void> {
  const { data } = await byHey.double({ body: { number: 4 } });
  const eight: number | undefined = data;
  const wrong = await byHey.double({ body: { number: -1 } });
  const asked = await byHey.refund({ body: { order: 7 } });
  const detail = (wrong.error as { detail?: string } | undefined)?.detail;
  say("hey-api", eight, wrong.response?.status, detail, asked.response?.status, waits(asked.data));
}

async function useOrval(): Promise<void> {
  const answer = await byOrval.double({ number: 4 });
  const eight: number | undefined = answer.status === 200 ? answer.data : undefined;
  const wrong = await byOrval.double({ number: -1 });
  const detail = wrong.status === 200 ? undefined : wrong.data.detail;
  const asked = await byOrval.refund({ order: 7 });
  say("orval", eight, wrong.status, detail, asked.status, waits(asked.data));
}

await useFetched();
await useHey();
await useOrval();
