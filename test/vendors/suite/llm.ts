/**
 * The behaviour suite of `Llm`: whole and streamed answers, and chat completions if the adapter passes them through.
 * The stub says `text`. If the request offers tools, it calls the first tool with `{"city":"Oslo"}` and says nothing
 * else.
 */
import type { Test } from 'tap'
import type {
  Llm,
  LlmAnswer,
  LlmEvent,
  LlmRequest,
  LlmTool,
  LlmUsage,
  PassThrough,
  PassThroughRequest,
  PassThroughUsage,
} from '../../../domain/ports/llm.ts'
import type { Provider } from '../../../domain/ports/provider.ts'
import type { CancelSignal } from '../../../domain/ports/system.ts'
import {
  never,
  type PortRules,
  patient,
  playOperation,
  present,
  type SuiteGiven,
  timed,
  withProvider,
} from './given.ts'
import { slowMs } from './stub-server.ts'

export type LlmGiven = SuiteGiven & {
  /** The stub's text. If absent, `answerText`. */
  text?: string
  /** Another suite has tested chat completions with the same adapter. */
  withoutChat?: true
  /** The stub's usage in the domain's terms. */
  usage: LlmUsage
  /** The model name in the stub's answer. */
  answeredBy: string
}

export const answerText = 'Hello from the stub.'
export const callArguments = { city: 'Oslo' }
export const weather: LlmTool = {
  name: 'weather',
  description: 'The weather in a city',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
}

export async function llmSuite(t: Test, given: LlmGiven): Promise<void> {
  const ask = askOf(given.model)
  await playOperation(t, given, rules, {
    name: 'respond',
    call: (provider, signal) => llmOf(provider).respond(ask, signal),
    check: (t, answer) => checkAnswer(t, answer, given),
  })
  await playOperation(t, given, rules, {
    name: 'stream',
    call: (provider, signal) => timed(llmOf(provider).stream(ask, signal)),
    check: (t, { items, firstMs }, cell) => {
      checkAnswer(t, answerOf(t, items), given)
      if (cell === 'slow_first_byte') t.ok(firstMs >= slowMs - 10, 'a role is not an event')
    },
  })
  await t.test('an answer may contain tool calls', (t) =>
    withProvider(t, given, 'ok', (provider) => playCalls(t, llmOf(provider), given)),
  )
  await t.test('the name of the model that answered is recorded', (t) =>
    withProvider(t, given, 'ok', async (provider) => {
      const [llm, whole, streamed] = [llmOf(provider), noting(), noting()]
      await llm.respond(ask, whole.signal)
      await timed(llm.stream(ask, streamed.signal))
      t.same([...whole.models, ...streamed.models], [given.answeredBy, given.answeredBy])
    }),
  )
  await t.test('if the reader leaves, the stream ends', (t) =>
    withProvider(t, given, 'ok', async (provider) => {
      for await (const event of llmOf(provider).stream(ask, never)) if (event.type === 'text') break
    }),
  )
  if (given.withoutChat !== true && (await hasChat(given))) await chatSuite(t, given)
}

/** The suite for `Llm.chat`. `llmSuite` runs it for adapters with this method. */
export async function chatSuite(t: Test, given: LlmGiven): Promise<void> {
  const ask: PassThroughRequest = {
    model: given.model,
    body: { messages: [{ role: 'user', content: 'Hello' }] },
    maxOutputTokens: 64,
  }
  const says = (t: Test, text: string, usage: PassThroughUsage | null) => {
    t.equal(text, given.text ?? answerText)
    t.same(usage?.counts, given.usage)
  }
  await t.test('if chat completions are passed through, the name of the model that answered is recorded', (t) =>
    withProvider(t, given, 'ok', async (provider) => {
      const [whole, streamed] = [noting(), noting()]
      await chatOf(provider).complete(ask, whole.signal)
      await timed(chatOf(provider).stream(ask, streamed.signal))
      t.same([...whole.models, ...streamed.models], [given.answeredBy, given.answeredBy])
    }),
  )
  await playOperation(t, given, rules, {
    name: 'chat.complete',
    call: (provider, signal) => chatOf(provider).complete(ask, signal),
    check: (t, { content: choices, usage }) => says(t, chatText(choices, 'message'), usage),
  })
  await playOperation(t, given, rules, {
    name: 'chat.stream',
    call: (provider, signal) => timed(chatOf(provider).stream(ask, signal)),
    check: (t, { items, firstMs }, cell) => {
      const text = items.map(({ content: choices }) => chatText(choices, 'delta')).join('')
      says(t, text, items.findLast(({ usage }) => usage)?.usage ?? null)
      if (cell === 'slow_first_byte') t.ok(firstMs >= slowMs - 10, 'a role is not an event')
    },
  })
}

const rules: PortRules = { cannot: { half_sample: 'text has no samples' } }
const llmOf = (provider: Provider): Llm => present(provider.ports.llm, 'llm')
const chatOf = (provider: Provider): PassThrough => present(provider.ports.llm?.chat, 'llm.chat')

/** Makes a signal, and collects the model names that the adapter reports to it. */
function noting(): { signal: CancelSignal; models: Set<unknown> } {
  const models = new Set<unknown>()
  const answeredBy = (model: unknown) => void (model !== undefined && models.add(model))
  return { signal: Object.assign(new AbortController().signal, { answeredBy }), models }
}

async function hasChat(given: LlmGiven): Promise<boolean> {
  const provider = given.provider(given.stub.url, patient)
  await provider.close()
  return provider.ports.llm?.chat !== undefined
}

const askOf = (model: string): LlmRequest => ({
  model,
  items: [
    { type: 'message', role: 'system', text: 'Be brief.' },
    { type: 'message', role: 'user', text: 'Hello' },
  ],
  maxOutputTokens: 64,
  tools: [],
})

function checkAnswer(t: Test, answer: LlmAnswer, { text = answerText, usage }: LlmGiven): void {
  t.equal(answer.text, text)
  t.same(answer.calls, [])
  t.equal(answer.stopReason, 'stop')
  t.same(answer.usage, usage)
}

async function playCalls(t: Test, llm: Llm, given: LlmGiven): Promise<void> {
  const ask: LlmRequest = { ...askOf(given.model), tools: [weather], toolChoice: 'required' }
  const whole = await llm.respond(ask, never)
  const { items } = await timed(llm.stream(ask, never))
  for (const answer of [whole, answerOf(t, items)]) {
    t.equal(answer.stopReason, 'tool_call')
    t.same(
      answer.calls.map(({ name, arguments: text }) => ({ name, arguments: JSON.parse(text) as unknown })),
      [{ name: weather.name, arguments: callArguments }],
    )
    t.ok(answer.calls[0]?.callId, 'a call has an id')
  }
}

/** Sums up the events as one answer. An event against the port's rules is a failure. */
function answerOf(t: Test, events: readonly LlmEvent[]): LlmAnswer {
  const answer: LlmAnswer = { text: '', calls: [], stopReason: 'stop', usage: noUsage }
  for (const event of events) {
    if ('delta' in event) t.not(event.delta, '', 'deltas are never empty')
    if (event.type === 'text') answer.text += event.delta
    else if (event.type === 'arguments') present(answer.calls[event.index], 'open call').arguments += event.delta
    else if (event.type === 'call') {
      t.equal(event.index, answer.calls.length, 'calls count from 0')
      answer.calls.push({ callId: event.callId, name: event.name, arguments: '' })
    } else Object.assign(answer, { stopReason: event.stopReason, usage: event.usage })
  }
  t.equal(
    events.findIndex(({ type }) => type === 'end'),
    events.length - 1,
    'the end comes last, once',
  )
  return answer
}

const noUsage: LlmUsage = { inputTokens: 0, cachedInputTokens: 0, outputTokens: 0, reasoningTokens: 0 }

type WireChoice = { message?: { content?: string }; delta?: { content?: string } }
const chatText = (choices: readonly unknown[], field: 'message' | 'delta'): string =>
  (choices as WireChoice[]).map((choice) => choice[field]?.content ?? '').join('')
