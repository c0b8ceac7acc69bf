import { createHash } from 'node:crypto'
import t from 'tap'
import { Catalog } from '../../domain/catalog/catalog.ts'
import type { Stage } from '../../domain/ports/model.ts'
import { baseAsk } from '../../domain/routing/ask.ts'
import { routingOfName } from '../../domain/routing/model-name.ts'
import { bench, caller, model, provider, thrownFault } from './fakes.ts'

t.test("if a provider's models are added to the catalog later, requests are routed to them without a restart", (t) => {
  const late = provider('late', [])
  const catalog = new Catalog([provider('a', [model('llm')]), late])
  const before = { version: catalog.version(), digest: catalog.digest() }
  t.equal(catalog.stage('llm').length, 1)
  t.equal(catalog.version(), before.version, 'the catalog is unchanged')
  late.models = provider('late', [model('llm')]).models
  t.not(catalog.version(), before.version)
  t.same(
    catalog.stage('llm').map(({ provider: { id } }) => id),
    ['a', 'late'],
  )
  t.not(catalog.digest(), before.digest)
  t.end()
})

t.test('the catalog digest hashes the field vendorReported under its older name `interested`', (t) => {
  const figure = {
    metric: 'wer',
    value: 1,
    unit: '%',
    language: 'en',
    path: 'stream',
    source: 's',
    asOf: '2026',
  } as const
  const row = model('llm', { provider: 'a', benchmarks: [{ ...figure, vendorReported: true }, figure] })
  const hashed = { ...row, benchmarks: [{ ...figure, interested: true }, figure] }
  const sorted = (value: object): object =>
    Array.isArray(value)
      ? value.map(sortedOrPlain)
      : Object.fromEntries(
          Object.entries(value)
            .sort()
            .map(([name, each]) => [name, sortedOrPlain(each)]),
        )
  const sortedOrPlain = (value: unknown): unknown =>
    typeof value === 'object' && value !== null ? sorted(value) : value
  const digest = createHash('sha256')
    .update(JSON.stringify([sorted(hashed)]))
    .digest('hex')
  t.equal(new Catalog([provider('a', [row])]).digest(), `sha256:${digest}`)
  t.end()
})

t.test('if a model id exists for llm and tts but not for stt, the error names the tts stage', (t) => {
  const catalog = new Catalog([provider('a', [model('llm'), model('tts')])])
  t.match(
    thrownFault(() => routingOfName(catalog, { stage: 'stt', name: 'm' })),
    { data: { otherStage: 'tts' } },
  )
  const { chooser } = bench([provider('a', [model('llm'), model('tts')]), provider('b', [model('stt')])])
  const choice = chooser.choose(baseAsk(caller(), 'stt', { mode: 'explicit', provider: 'a', model: 'm' }, undefined))
  t.match(chooser.refusal(choice), { data: { kind: 'unknown_pin', otherStage: 'tts' } })
  t.end()
})

t.test("an unlisted model is accepted if its name is formed like a vendor's model id", (t) => {
  const row = model('llm', { provider: 'a' })
  const open = Object.assign(provider('a', [row]), { unlisted: (_stage: Stage, id: string) => ({ ...row, id }) })
  const catalog = new Catalog([open])
  const ids = ['gpt-4o-mini', 'ft:gpt-4o:org::Ab1', '@cf/meta/llama-3', 'hf.co/x/y_z:Q4_K_M', 'k@001', 'm'.repeat(256)]
  for (const id of ids) t.equal(catalog.unlisted('llm', 'a', id)?.pin, `a/${id}`, id.slice(0, 40))
  const texts = ['', ' ', 'Call me back', 'line\nbreak', 'line\n', 'é', '"x"', '{}', '.', 'm'.repeat(257)]
  for (const text of texts) t.equal(catalog.unlisted('llm', 'a', text), undefined, JSON.stringify(text.slice(0, 40)))
  t.end()
})
