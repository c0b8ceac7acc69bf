import type { Command } from 'commander'
import type { RequestAttempt, RequestRoute } from '../generated/platform/types.ts'
import type { Actions } from './actions.ts'
import { linesOfChoice, table } from './choice.ts'
import { platformClient } from './client.ts'
import { print } from './print.ts'

export function why(program: Command, actions: Actions): void {
  program
    .command('why')
    .description('where a request went, and why: its candidates with their scores, who was excluded, each attempt')
    .argument('<id>', 'request id, req_…, as Service-Request-ID had it')
    .option('--json', 'print the answer as it came', false)
    .action(async (id: string, { json }: { json: boolean }) => {
      const { body } = await platformClient(await actions.connection()).getRequestRoute({ path: { id } })
      print(json, body, () => linesOfRoute(body))
    })
}

function linesOfRoute(route: RequestRoute): string[] {
  const { operation, outcome, started_at: startedAt, duration_ms: durationMs, attempts } = route
  return [
    `${route.request_id}  ${operation}  ${outcome} after ${durationMs.toFixed(0)} ms, ${startedAt}`,
    '',
    ...linesOfChoice(route),
    '',
    'attempts',
    ...table([['model', 'outcome', 'first byte', 'in all', 'key', 'cost', 'price'], ...attempts.map(rowOfAttempt)]),
  ]
}

function rowOfAttempt(attempt: RequestAttempt): string[] {
  const { provider, model, outcome, first_byte_ms: firstByteMs, duration_ms: durationMs } = attempt
  return [
    `${provider}:${model}`,
    outcome,
    firstByteMs === null ? '–' : `${firstByteMs.toFixed(0)} ms`,
    `${durationMs.toFixed(0)} ms`,
    attempt.key_source === 'byok' ? 'own' : 'platform',
    attempt.priced ? `$${(Number(attempt.cost_micro_usd) / 1_000_000).toFixed(6)}` : 'not priced',
    attempt.price_source ?? '–',
  ]
}
