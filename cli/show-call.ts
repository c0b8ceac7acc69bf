/** Writes a call as lines for people. */
import type { Call, CallReport, CallTurn } from '../generated/platform/types.ts'
import { table } from './choice.ts'
import { dollars, milliseconds, oneLine, sinceStart } from './terminal.ts'
import { linesOfSpans } from './waterfall.ts'

export function linesOfCall(call: Call): string[] {
  const { entries } = call.transcript
  const spans = linesOfSpans(call.span_tree)
  return [
    ...linesOfState(call),
    ...(call.report ? ['', ...linesOfReport(call.report)] : []),
    '',
    'transcript',
    ...(entries.length > 0 ? entries.flatMap((turn) => linesOfTurn(call, turn)) : ['  nobody spoke']),
    ...linesOfLatencies(entries),
    ...(spans.length > 0 ? ['', 'what each silence was spent on', ...spans] : []),
  ]
}

function linesOfState(call: Call): string[] {
  const lasted = call.duration_seconds === null ? '' : `, ${call.duration_seconds} s`
  const recordedMs = call.recording_duration_ms
  const recorded = recordedMs === null ? '' : `, ${(recordedMs / 1000).toFixed(1)} s`
  return [
    `${call.id}  ${call.status}${call.end_reason ? ` by ${call.end_reason}` : ''}${lasted}`,
    ...table([
      ['kind', `${call.kind}, ${call.language}`],
      ['agent', call.agent_id ?? 'none stored'],
      ['made', call.created_at],
      ['connected', call.started_at ?? 'never'],
      ['recording', `${call.recording_status ?? 'not known yet'}${recorded}`],
    ]),
  ]
}

function linesOfReport({ outcome, summary, analysis_status: analysis, ...report }: CallReport): string[] {
  const by = report.analysis_model === null ? '' : ` by ${report.analysis_provider}:${report.analysis_model}`
  return [
    'report',
    ...table([
      ['outcome', outcome],
      ['analysis', `${analysis}${by}`],
      ['cost', dollars(report.cost_micro_usd)],
      ...report.cost_breakdown.map((line) => [
        '',
        `${line.stage} ${line.provider}:${line.model}  ${line.quantity} ${line.metric}  ${dollars(line.costMicroUsd)}`,
      ]),
    ]),
    ...(summary === '' ? [] : [`  ${oneLine(summary)}`]),
  ]
}

function linesOfTurn(call: Call, turn: CallTurn): string[] {
  const { index, source, text } = turn
  const played = turn['heard_text']
  const head = `  ${String(index).padStart(3)}  ${sinceStart(call, turn.started_at)}  ${source.padEnd(6)}  `
  const below = ' '.repeat(head.length)
  return [
    `${head}${oneLine(text)}`,
    // An interruption cut off the agent's speech. So the words that were played are shown too.
    ...(played !== null && played !== text ? [`${below}played: ${oneLine(played) || 'nothing'}`] : []),
    ...turn.tool_calls.map(({ name, args, status }) => `${below}tool ${name} ${status}: ${oneLine(args)}`),
  ]
}

function linesOfLatencies(turns: readonly CallTurn[]): string[] {
  const timed = turns.filter(({ latency_status: status }) => status !== null)
  if (timed.length === 0) return []
  const heading = ['turn', 'end of turn', 'llm', 'tts', 'silence', 'state', 'by']
  return ['', 'latencies', ...table([heading, ...timed.map(rowOfLatency)])]
}

function rowOfLatency(turn: CallTurn): string[] {
  const { ttsProvider, ttsModel } = turn.metadata
  const llm = turn.provider === null ? [] : [`${turn.provider}:${turn.model}`]
  const tts = typeof ttsProvider === 'string' && typeof ttsModel === 'string' ? [`${ttsProvider}:${ttsModel}`] : []
  return [
    String(turn.index),
    milliseconds(turn.eou_ms),
    milliseconds(turn.llm_ttft_ms),
    milliseconds(turn.tts_ttfb_ms),
    milliseconds(turn.conversational_latency_ms),
    turn.latency_status ?? '–',
    [...llm, ...tts].join(', '),
  ]
}
