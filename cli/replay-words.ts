/** Writes a comparison as lines for people. */
import type { Bundle } from './read-bundle.ts'
import { milliseconds, oneLine, sinceStart } from './terminal.ts'
import { marked, wordDifferences } from './word-differences.ts'

export type ReplayedTurn = {
  index: number
  startedAt: string
  then: string
  now: string
  /** The number of words in `then`, and how many differ. Only for a transcription. */
  words: { errors: number; count: number } | null
  /** The time until the whole transcript, the first token or the first audio. */
  latencyMs: number | null
  /** The latency in the recorded call, for comparison. */
  thenMs: number | null
  error: string | null
}
export type Replay = { stage: 'stt' | 'llm' | 'tts'; model: string; turns: ReplayedTurn[] }

const measured = { stt: 'whole transcript', llm: 'first token', tts: 'first audio' } as const

export function linesOfReplay(bundle: Bundle, replays: readonly Replay[]): string[] {
  return replays.flatMap((replay, i) => [
    ...(i > 0 ? [''] : []),
    `${replay.stage} with ${replay.model}`,
    ...replay.turns.flatMap((turn) => linesOfTurn(bundle, replay, turn)),
    '',
    `  ${sumOf(replay)}`,
  ])
}

function linesOfTurn({ call }: Bundle, { stage, model }: Replay, turn: ReplayedTurn): string[] {
  const head = `turn ${turn.index}  ${sinceStart(call, turn.startedAt)}`
  if (turn.error !== null)
    return ['', `  ${head}  ${model} failed`, ...turn.error.split('\n').map((line) => `    ${line}`)]
  const before = turn.thenMs === null ? '' : `, then ${milliseconds(turn.thenMs)}`
  const figures = `${measured[stage]} after ${milliseconds(turn.latencyMs)}${before}`
  const { words } = turn
  const differing = words === null ? '' : `  ${words.errors} of ${words.count} words differ,`
  const differences = wordDifferences(turn.then, turn.now)
  const show = (side: 'then' | 'now') => (stage === 'stt' ? marked(differences, side) : oneLine(turn[side]))
  return ['', `  ${head} ${differing} ${figures}`, `    then  ${show('then')}`, `    now   ${show('now')}`]
}

function sumOf({ stage, turns }: Replay): string {
  const times = turns.flatMap(({ latencyMs }) => (latencyMs === null ? [] : [latencyMs])).toSorted((a, b) => a - b)
  const median = milliseconds(times[Math.floor((times.length - 1) / 2)] ?? null)
  const sum = (pick: (words: { errors: number; count: number }) => number) =>
    turns.reduce((total, { words }) => total + (words === null ? 0 : pick(words)), 0)
  const [errors, count] = [sum((words) => words.errors), sum((words) => words.count)]
  const rate = count === 0 ? '' : `${errors} of ${count} words differ (${((100 * errors) / count).toFixed(1)} %), `
  const failed = turns.filter(({ error }) => error !== null).length
  return `in all: ${rate}${measured[stage]} after ${median} at the median${failed > 0 ? `, ${failed} of ${turns.length} failed` : ''}`
}
