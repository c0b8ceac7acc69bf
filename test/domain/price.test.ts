import t from 'tap'
import type { Quantity } from '../../domain/billing/ledger.ts'
import { costMicroUsd } from '../../domain/billing/price.ts'
import { quantitiesOf, worstCase } from '../../domain/llm/tokens.ts'
import type { Price } from '../../domain/ports/model.ts'
import { fc } from '../random.ts'

const price = (unit: Price['unit'], microUsd: number | null): Price => ({ unit, microUsd, source: 's', asOf: 'd' })
const of = (unit: string, amount: number): Quantity => ({ unit, amount })

t.test('a cost is the quantity times the unit price, rounded up to a micro-USD', (t) => {
  t.equal(costMicroUsd([price('audio_hour', 360_000)], [of('audio_milliseconds', 60_000)]), 6000)
  t.equal(costMicroUsd([price('million_characters', 15_000_000)], [of('characters', 11)]), 165)
  t.equal(costMicroUsd([price('million_characters', 1)], [of('characters', 1)]), 1, 'rounded up')
  t.equal(costMicroUsd([price('million_characters', 0)], [of('characters', 1000)]), 0, 'free')
  t.equal(costMicroUsd([price('million_characters', 300_000)], [of('characters', 10)]), 3, 'no charge for a float')
  t.equal(costMicroUsd([], []), 0)
  t.end()
})

t.test('a missing price makes the cost null, but only if its unit was used', (t) => {
  t.equal(costMicroUsd([], [of('characters', 1)]), null)
  t.equal(costMicroUsd([price('million_characters', null)], [of('characters', 1)]), null)
  t.equal(costMicroUsd([price('million_characters', 5)], [of('characters', 1), of('parrots', 1)]), null)
  t.equal(costMicroUsd([], [of('characters', 0)]), 0)
  t.end()
})

t.test('without separate prices, cached and reasoning tokens are billed as input and output', (t) => {
  const prices = [price('million_input_tokens', 1_000_000), price('million_output_tokens', 2_000_000)]
  const quantities = quantitiesOf({ inputTokens: 1, cachedInputTokens: 10, outputTokens: 100, reasoningTokens: 1000 })
  t.equal(costMicroUsd(prices, quantities), 1 + 10 + 200 + 2000)
  t.equal(costMicroUsd([...prices, price('million_cached_input_tokens', 100_000)], quantities), 1 + 1 + 200 + 2000)
  t.equal(costMicroUsd([...prices, price('million_cached_input_tokens', null)], quantities), null)
  t.same(quantitiesOf({ inputTokens: 0, cachedInputTokens: 0, outputTokens: 3, reasoningTokens: 0 }), [
    of('output_tokens', 3),
  ])
  t.end()
})

t.test('the worst-case price grows with every part of the request', (t) => {
  const input = (text: string, tools: number) =>
    worstCase({
      items: [{ type: 'message', role: 'user', text }],
      maxOutputTokens: 7,
      tools: Array.from({ length: tools }, (_, i) => ({ name: `t${i}` })),
    })[0]?.amount ?? 0
  fc.assert(
    fc.property(fc.string(), fc.string(), fc.nat(5), (a, b, tools) => input(a + b, tools + 1) > input(a, tools)),
  )
  t.ok(input('日本語', 0) >= 4, 'at least a token for a character')
  t.end()
})
