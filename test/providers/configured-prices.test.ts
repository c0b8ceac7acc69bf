/** Tests model prices from the configuration, and the catalog's prices beside them. */
import t from 'tap'
import type { Model } from '../../domain/ports/model.ts'
import { price } from '../../providers/configured-prices.ts'
import { model, provider } from '../domain/fakes.ts'

const asOf = '2026-11'
const published = { unit: 'million_input_tokens', microUsd: 5, source: 'a price list', asOf: '2026-10-01' } as const
const withInput = (microUsd: number, id: string) =>
  ({ model: id, unit: 'million_input_tokens', microUsd, asOf }) as const
const from = (unit: string, microUsd: number) => ({ unit, microUsd, asOf, source: 'parley.yaml' })

t.test("a configured price for one model overrides a price for all models and the catalog's price", (t) => {
  const rows = ['a', 'b'].map((id) => ({ ...model('llm', { prices: [published] }), id }))
  const made = provider('mine', rows)
  made.unlisted = () => rows[0] as Model
  const output = { model: '*', unit: 'million_output_tokens', microUsd: 0, asOf } as const
  price(made, [withInput(70, '*'), withInput(60, 'a'), output])
  const expected = [from('million_input_tokens', 60), from('million_output_tokens', 0)]
  t.same(made.models[0]?.prices, expected)
  t.same(made.models[1]?.prices, [from('million_input_tokens', 70), from('million_output_tokens', 0)])
  t.same(made.unlisted('llm', 'a')?.prices, expected, 'also for a model that only a pin reaches')
  price(made, [])
  t.same(made.models[0]?.prices, expected)
  t.end()
})

t.test("units without a configured price keep the catalog's price", (t) => {
  const made = provider('mine', [model('llm', { prices: [published] })])
  price(made, [{ model: 'nobody', unit: 'million_input_tokens', microUsd: 1, asOf }])
  t.same(made.models[0]?.prices, [published])
  made.unlisted = () => null
  price(made, [{ model: '*', unit: 'million_output_tokens', microUsd: 1, asOf }])
  t.same(made.models[0]?.prices, [from('million_output_tokens', 1), published])
  t.equal(made.unlisted('llm', 'x'), null)
  t.end()
})
