/** Sends a call's turns to a model once more. */
import type { RouterClient } from '../generated/clients/typescript/router.ts'
import type { CallTurn } from '../generated/platform/types.ts'
import type { InputMessage } from '../generated/router/types.ts'
import { explain } from './client.ts'
import { CommandError } from './command-error.ts'
import type { Bundle } from './read-bundle.ts'
import type { ReplayedTurn } from './replay-words.ts'
import { leftOf } from './wav.ts'
import { wordDifferences } from './word-differences.ts'

/** Speech begins and ends softly, so a turn's audio gets a margin on both sides. */
const marginMs = { before: 300, after: 400 }
/** Maximum answer tokens if the call's settings have no maximum. */
const outputTokensMax = 512

/**
 * Reads a model's name: `provider:model` as the other APIs print it, or `provider/model`. A model id may contain both
 * `:` and `/`.
 */
function pinnedAs(name: string) {
  const [, provider = '', model = ''] = /^([^:/]+)[:/](.+)$/.exec(name) ?? []
  return { routing: { mode: 'explicit' as const, provider, model } }
}

/** Chooses the turns that are sent. The others are still the history of a turn, and the limits of its audio. */
export type IsWanted = (turn: CallTurn) => boolean

type Result = Pick<ReplayedTurn, 'now' | 'latencyMs' | 'thenMs'>

export async function* transcribeAgain(
  client: RouterClient,
  bundle: Bundle,
  model: string,
  isWanted: IsWanted,
): AsyncGenerator<ReplayedTurn> {
  const { call, recording, recordingStartMs, turns } = bundle
  if (recording === null) throw new CommandError('the call has no recording, so there is nothing to transcribe')
  const callerTurns = turns.filter(({ source }) => source === 'user')
  for (const turn of callerTurns) {
    if (!isSpoken(turn) || !isWanted(turn)) continue
    const { fromMs, toMs } = audioTimes(turn, callerTurns)
    const audio = new Uint8Array(leftOf(recording, fromMs - recordingStartMs, toMs - recordingStartMs))
    const replayed = await attempted(turn, turn.text, async () => {
      const startedMs = performance.now()
      const request = { language: call.language, ...pinnedAs(model) }
      const { body } = await client.createTranscription({ body: { request, audio } })
      return { now: body.text, latencyMs: performance.now() - startedMs, thenMs: null }
    })
    const { errors, words } = wordDifferences(turn.text, replayed.now)
    yield replayed.error === null ? { ...replayed, words: { errors, count: words } } : replayed
  }
}

const isSpoken = ({ metadata }: CallTurn) => !metadata['typed'] && !metadata['dtmf']

/** Returns a turn's time range with margins. The range stays between the caller's other turns. */
function audioTimes(turn: CallTurn, callerTurns: readonly CallTurn[]) {
  const [startMs, endMs] = [Date.parse(turn.started_at), Date.parse(turn.ended_at)]
  const others = callerTurns.filter(({ id }) => id !== turn.id)
  const ends = others.map(({ ended_at: at }) => Date.parse(at)).filter((atMs) => atMs <= startMs)
  const starts = others.map(({ started_at: at }) => Date.parse(at)).filter((atMs) => atMs >= endMs)
  return {
    fromMs: Math.max(startMs - marginMs.before, ...ends),
    toMs: Math.min(endMs + marginMs.after, ...starts),
  }
}

export async function* answerAgain(
  client: RouterClient,
  { config, turns }: Bundle,
  model: string,
  isWanted: IsWanted,
): AsyncGenerator<ReplayedTurn> {
  const { maxTokens = outputTokensMax, temperature } = (config['llm'] ?? {}) as {
    maxTokens?: number
    temperature?: number | null
  }
  const system = config.systemPrompt === '' ? [] : [message('system', config.systemPrompt)]
  for (const turn of turns) {
    if (turn.source !== 'agent' || turn.provider === null || !isWanted(turn)) continue
    const history = turns.filter(({ index }) => index < turn.index).flatMap(messageOf)
    const input = [...system, ...history]
    yield await attempted(turn, turn.text, async () => {
      const options = typeof temperature === 'number' ? { temperature } : {}
      const body = { input, max_output_tokens: maxTokens, ...options, ...pinnedAs(model), stream: true }
      return { ...(await firstAndWhole(client, body)), thenMs: turn.llm_ttft_ms }
    })
  }
}

async function firstAndWhole(client: RouterClient, body: Parameters<RouterClient['createResponse']>[0]['body']) {
  const startedMs = performance.now()
  const answer = await client.createResponse({ body })
  if (answer.type !== 'text/event-stream') throw new CommandError('the server did not stream')
  let [now, latencyMs] = ['', null as number | null]
  for await (const { event, data } of answer.body) {
    if (event === 'error') throw new CommandError(`${data.error.code}: ${data.error.message}`)
    if (event !== 'response.text.delta') continue
    latencyMs ??= performance.now() - startedMs
    now += data.delta
  }
  return { now, latencyMs }
}

export async function* speakAgain(
  client: RouterClient,
  { call, turns }: Bundle,
  model: string,
  isWanted: IsWanted,
): AsyncGenerator<ReplayedTurn> {
  for (const turn of turns) {
    if (turn.source !== 'agent' || turn.text === '' || !isWanted(turn)) continue
    yield await attempted(turn, turn.text, async () => {
      const startedMs = performance.now()
      const audio = { sample_rate_hz: speechRateHz }
      const body = { input: turn.text, language: call.language, audio, ...pinnedAs(model) }
      const answer = await client.createSpeech({ body })
      let [bytes, latencyMs] = [0, null as number | null]
      for await (const chunk of answer.body) {
        latencyMs ??= performance.now() - startedMs
        bytes += chunk.length
      }
      const seconds = (bytes / 2 / speechRateHz).toFixed(1)
      return { now: `${seconds} s of speech`, latencyMs, thenMs: turn.tts_ttfb_ms }
    })
  }
}

const speechRateHz = 24_000

/** Runs one turn. If it fails, the error becomes the turn's result, so the comparison goes on. */
async function attempted(turn: CallTurn, then: string, run: () => Promise<Result>): Promise<ReplayedTurn> {
  const blank = { index: turn.index, startedAt: turn.started_at, then, words: null }
  try {
    return { ...blank, ...(await run()), error: null }
  } catch (error) {
    return { ...blank, now: '', latencyMs: null, thenMs: null, error: explain(error) }
  }
}

/**
 * Returns the turn as a message for the model. In the call, the model received only the agent's words that were played.
 */
function messageOf(turn: CallTurn): InputMessage[] {
  const text = turn.source === 'agent' ? (turn['heard_text'] ?? turn.text) : turn.text
  if (text === '') return []
  return [message(({ user: 'user', agent: 'assistant', system: 'system' } as const)[turn.source], text)]
}

const message = (role: InputMessage['role'], text: string): InputMessage => ({
  type: 'message',
  role,
  content: [{ type: 'text', text }],
})
