/**
 * Counts the quantities and costs of requests. A request only adds to existing numbers and creates no label, text or
 * series, because thousands of requests a second would pay for each. Prometheus gets the sums when it asks for them.
 */
import { Counter, type Registry } from 'prom-client'

type Used = { unit: string; amount: number }
/** The sums for one provider's model in one stage: stt, llm or tts. */
type Tally = {
  stage: string
  provider: string
  model: string
  amounts: Map<string, number>
  costMicroUsd: number
  unpriced: number
}
type CarrierUse = { line: string; direction: string; seconds: number; microUsd: number }
type Labels = Record<string, string>
/** The ledger's token units and their values for the label `kind`. Cached tokens are input, and reasoning is output. */
const tokenKinds: Record<string, string> = {
  input_tokens: 'input',
  cached_input_tokens: 'cached_input',
  output_tokens: 'output',
  reasoning_tokens: 'reasoning',
}

export function createUsageMetrics(registry: Registry) {
  const tallies: Tally[] = []
  const index = new Map<string, Map<string, Map<string, Tally>>>()
  const refusals = new Map<string, number>()
  const byAmount = (unit: string, divisor: number) => (add: (labels: Labels, value: number) => void) => {
    for (const tally of tallies) {
      const amount = tally.amounts.get(unit)
      if (amount !== undefined) add(routeOf(tally), amount / divisor)
    }
  }
  const route = ['stage', 'provider', 'model']
  counter(registry, 'parley_tokens_total', 'Tokens of answered requests, by kind', [...route, 'kind'], (add) => {
    for (const tally of tallies)
      for (const [unit, amount] of tally.amounts) {
        const kind = tokenKinds[unit]
        if (kind !== undefined) add({ ...routeOf(tally), kind }, amount)
      }
  })
  const characters = 'Characters that were spoken by answered requests'
  counter(registry, 'parley_characters_total', characters, route, byAmount('characters', 1))
  const audio = 'Seconds of audio that answered requests were billed for'
  counter(registry, 'parley_audio_seconds_total', audio, route, byAmount('audio_milliseconds', 1000))
  const cost = 'Cost of answered requests in US dollars, as far as prices are known'
  counter(registry, 'parley_cost_usd_total', cost, route, (add) => {
    for (const tally of tallies) add(routeOf(tally), tally.costMicroUsd / 1e6)
  })
  const unpriced = 'Answered requests whose cost is not known'
  counter(registry, 'parley_unpriced_requests_total', unpriced, route, (add) => {
    for (const tally of tallies) add(routeOf(tally), tally.unpriced)
  })
  const refused =
    'Requests and slices of streams that the credit of their organization, or the budget of their key, did not cover'
  counter(registry, 'parley_credit_refusals_total', refused, ['stage'], (add) => {
    for (const stage of ['llm', 'stt', 'tts']) add({ stage }, refusals.get(stage) ?? 0)
  })
  return {
    usage(stage: string, provider: string, model: string, quantities: readonly Used[], costMicroUsd: number | null) {
      const tally = index.get(stage)?.get(provider)?.get(model) ?? added(stage, provider, model)
      for (const { unit, amount } of quantities) tally.amounts.set(unit, (tally.amounts.get(unit) ?? 0) + amount)
      if (costMicroUsd === null) tally.unpriced += 1
      else tally.costMicroUsd += costMicroUsd
    },
    watchBudgetEvents(read: () => Readonly<Record<string, number>>) {
      const help = 'Keys that have spent 80 % of their budget (warned), or have none left (exhausted), once a period'
      counter(registry, 'parley_budget_events_total', help, ['event'], (add) => {
        for (const [event, count] of Object.entries(read())) add({ event }, count)
      })
    },
    watchCarrierUse: (read: () => readonly CarrierUse[]) => countCarrierUse(registry, read),
    creditRefusal(stage: string) {
      refusals.set(stage, (refusals.get(stage) ?? 0) + 1)
    },
  }

  function added(stage: string, provider: string, model: string): Tally {
    const tally = { stage, provider, model, amounts: new Map<string, number>(), costMicroUsd: 0, unpriced: 0 }
    const providers = index.get(stage) ?? new Map<string, Map<string, Tally>>()
    const models = providers.get(provider) ?? new Map<string, Tally>()
    index.set(stage, providers.set(provider, models.set(model, tally)))
    tallies.push(tally)
    return tally
  }
}

function countCarrierUse(registry: Registry, read: () => readonly CarrierUse[]): void {
  const names = ['line', 'direction']
  const seconds = 'Seconds of legs of phone calls from their answer to their end, when they have ended'
  counter(registry, 'parley_carrier_seconds_total', seconds, names, (add) => {
    for (const { line, direction, seconds } of read()) add({ line, direction }, seconds)
  })
  const cost = 'Cost of these legs in US dollars, as far as carrier.prices has their price'
  counter(registry, 'parley_carrier_cost_usd_total', cost, names, (add) => {
    for (const { line, direction, microUsd } of read()) add({ line, direction }, microUsd / 1e6)
  })
}

function routeOf({ stage, provider, model }: Tally): Labels {
  return { stage, provider, model }
}

/** Makes a counter with values read on demand. */
function counter(
  registry: Registry,
  name: string,
  help: string,
  labelNames: string[],
  read: (add: (labels: Labels, value: number) => void) => void,
): void {
  new Counter({
    registers: [registry],
    name,
    help,
    labelNames,
    collect() {
      this.reset()
      read((labels, value) => this.inc(labels, value))
    },
  })
}
