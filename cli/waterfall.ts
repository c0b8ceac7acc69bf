/**
 * Draws a call's span tree as text. The full width is a turn's latency, the silence before the agent speaks. Each part
 * is drawn at its time, with full blocks while the caller waited for it and light blocks while it ran beside other
 * parts:
 *
 *   turn 1  378 ms of silence
 *     endpointing  ██████████████████            250 ms
 *     stt                            █████        65 ms
 *     llm          ░░                              0 ms  local:scripted
 */
import type { CallSpan, SpanTree } from '../generated/platform/types.ts'
import { milliseconds } from './terminal.ts'

const width = 32
const kindWidth = 'unattributed'.length

export function linesOfSpans({ spans = [] }: SpanTree): string[] {
  return spans
    .flatMap((root) => root.children)
    .flatMap((span) => (span.kind === 'turn' ? linesOfTurn(span) : [lineOf(span)]))
}

function linesOfTurn(turn: CallSpan): string[] {
  const { index, silence_ms: silence, interrupted, preempted } = turn.attributes
  const silenceMs = typeof silence === 'number' ? silence : turn.critical_ms
  const marks = [...(preempted === true ? ['begun early'] : []), ...(interrupted === true ? ['interrupted'] : [])]
  return [
    [`  turn ${String(index)}  ${milliseconds(silenceMs)} of silence`, ...marks].join(', '),
    ...turn.children.map((child) => lineOfPart(child, turn.start_ms, silenceMs)),
  ]
}

function lineOf({ kind, duration_ms: durationMs }: CallSpan): string {
  return `  ${kind}  ${milliseconds(durationMs)}`
}

function lineOfPart(part: CallSpan, startMs: number, silenceMs: number): string {
  const bar = barOf(part, startMs, silenceMs)
  const waited = milliseconds(part.critical_ms).padStart(8)
  return `    ${part.kind.padEnd(kindWidth)}  ${bar}  ${waited}  ${nameOf(part)}`.trimEnd()
}

function nameOf({ attributes: { provider, model, name } }: CallSpan): string {
  if (typeof provider === 'string' && typeof model === 'string') return `${provider}:${model}`
  return typeof name === 'string' ? name : ''
}

/**
 * Draws a part's bar. The caller waited at the part's end, which is drawn with full blocks. The earlier work ran beside
 * other parts and is drawn with light blocks.
 */
function barOf(part: CallSpan, startMs: number, silenceMs: number): string {
  const column = (ms: number) =>
    silenceMs <= 0 ? 0 : Math.round((Math.min(Math.max(ms - startMs, 0), silenceMs) / silenceMs) * width)
  const endMs = Math.min(part.start_ms + part.duration_ms, startMs + silenceMs)
  const [from, waited, to] = [column(part.start_ms), column(endMs - part.critical_ms), column(endMs)]
  const beside = Math.max(0, waited - from)
  return `${' '.repeat(Math.min(from, waited))}${'░'.repeat(beside)}${'█'.repeat(to - waited)}`.padEnd(width)
}
