import t from 'tap'
import { Catalog } from '../../domain/catalog/catalog.ts'
import type { Model, Stage } from '../../domain/ports/model.ts'
import type { Routing } from '../../domain/routing/ask.ts'
import { type Ask, baseAsk } from '../../domain/routing/ask.ts'
import { createListModels } from '../../domain/routing/list-models.ts'
import { createPreview } from '../../domain/routing/preview.ts'
import { axes, leading, weights } from '../../domain/routing/weights.ts'
import { auto, figure, pinned, pins, price } from './choosing-setup.ts'
import { bench, caller, failure, model, provider, thrownFault } from './fakes.ts'
import { routerError } from './router-error.ts'

t.test('the catalog finds models by stage (stt, llm, tts), and its digest changes only with its models', (t) => {
  const a = provider('a', [model('llm'), model('stt')])
  const b = provider('b', [model('llm')])
  const catalog = new Catalog([a, b])
  t.match(catalog.digest(), /^sha256:[0-9a-f]{64}$/)
  t.equal(new Catalog([b, a]).digest(), catalog.digest(), 'the order of providers is no part of it')
  t.equal(catalog.find('stt', 'a', 'm')?.pin, 'a/m', 'two stages may share a pin')

  const before = catalog.version()
  t.equal(catalog.version(), before)
  a.reason = 'no_credential'
  t.not(catalog.version(), before, 'a provider that became unavailable moves the version')
  t.equal(catalog.unavailable(a), 'no_credential')

  const digest = catalog.digest()
  catalog.replace([a, b, provider('late', [model('tts')])])
  t.not(catalog.digest(), digest)
  t.equal(catalog.stage('tts').length, 1, 'a provider may appear later')
  t.throws(() => new Catalog([b, b]), /llm:b\/m twice/)
  t.end()
})

t.test('a provider filter names a provider, or one model of a provider', (t) => {
  const providers = [provider('a', [model('llm'), { ...model('llm'), id: 'n' }]), provider('b', [model('llm')])]
  const allowing = (...allowProviders: string[]) =>
    pins(providers, 'llm', { routing: { ...auto, allowProviders } }).toSorted()
  t.same(allowing('a'), ['a/m', 'a/n'])
  t.same(allowing('a:n', 'b'), ['a/n', 'b/m'])
  t.end()
})

t.test('each excluded model is listed with the reason for its exclusion', (t) => {
  const able = { capabilities: { ...model('stt').capabilities, diarization: true } }
  const gone = provider('gone', [model('stt', able)])
  gone.reason = 'no_credential'
  const providers = [
    provider('ok', [model('stt', { ...able, providerOptions: ['smart'] })]),
    provider('denied', [model('stt', able)]),
    provider('other', [model('stt', able)]),
    provider('plain', [model('stt')]),
    provider('french', [model('stt', { ...able, languages: ['fr'] })]),
    provider('narrow', [
      model('stt', { ...able, audioFormats: [{ encoding: 'pcm_s16le', sampleRatesHz: [8000], channels: [1] }] }),
    ]),
    gone,
    provider('streaming', [model('stt', { capabilities: { ...able.capabilities, batch: false } })]),
  ]
  const ids = providers.map(({ id }) => id)
  const { chooser } = bench(providers)
  const choice = chooser.choose({
    ...baseAsk(
      caller({ allowProviders: ids.filter((id) => id !== 'other') }),
      'stt',
      { ...auto, denyProviders: ['denied'] },
      'en-US',
    ),
    needs: ['batch', 'diarization'],
    audio: { encoding: 'pcm_s16le', sampleRateHz: 16_000, channels: 1 },
  })
  t.same(
    choice.candidates.map(({ row }) => row.pin),
    ['ok/m'],
  )
  t.same(Object.fromEntries(choice.excluded.map(({ row, reason, detail }) => [row.provider.id, detail ?? reason])), {
    denied: 'denied',
    other: 'key_policy',
    plain: 'capability:diarization',
    french: 'language',
    narrow: 'encoding',
    gone: 'no_credential',
    streaming: 'capability:batch',
  })
  t.end()
})

t.test('a model supports a list of sample rates, a range of sample rates, or any sample rate', (t) => {
  const reads = (support: object) => [
    provider('a', [model('stt', { audioFormats: [{ encoding: 'mulaw', channels: [1], ...support }] })]),
  ]
  const audio = { encoding: 'mulaw', sampleRateHz: 8000, channels: 1 }
  t.equal(pins(reads({ sampleRatesHz: [8000, 16_000] }), 'stt', { audio }).length, 1)
  t.equal(pins(reads({ sampleRateRangeHz: { min: 4000, max: 9000 } }), 'stt', { audio }).length, 1)
  t.equal(pins(reads({}), 'stt', { audio }).length, 1)
  t.equal(pins(reads({ sampleRateRangeHz: { min: 9000, max: 48_000 } }), 'stt', { audio }).length, 0)
  t.equal(pins(reads({}), 'stt', { audio: { ...audio, channels: 2 } }).length, 0)
  t.equal(pins(reads({}), 'stt', { audio: { ...audio, encoding: 'opus' } }).length, 0)
  t.end()
})

t.test('if no candidate is left, the error names the filter that excluded the last candidate', async (t) => {
  const voice = { id: 'v1', name: 'V', gender: 'female' as const, styles: [] }
  const a = provider('a', [model('llm'), model('tts', { voices: [voice], languages: ['en'] })])
  const b = provider('b', [model('tts', { id: 'bare' })])
  const { chooser, health, clock } = bench([a, b], ['a'])
  const refused = (stage: Stage, routing: Routing, over: Partial<Ask> = {}, who = caller()) =>
    thrownFault(() => chooser.chooseSome({ ...baseAsk(who, stage, routing, undefined), ...over }))
  const answered = (...asked: Parameters<typeof refused>) => routerError(refused(...asked))

  t.match(answered('stt', auto), { code: 'provider_unavailable', message: /No stt provider is configured/ })
  t.match(answered('llm', pinned('a', 'nope')), {
    code: 'invalid_parameter',
    param: '/routing/model',
    hint: /v1\/models/,
  })
  t.match(answered('tts', pinned('a', 'x')), { code: 'invalid_parameter', message: /no such tts model/ })
  t.match(answered('llm', pinned('b', 'bare')), { code: 'invalid_parameter', message: /of kind tts, not llm/ })
  t.match(refused('llm', { ...auto, allowProviders: ['zzz'] }), {
    kind: 'none_allowed',
  })
  t.match(refused('llm', { ...auto, denyProviders: ['a'] }), {
    kind: 'all_denied',
  })
  t.match(refused('llm', auto, {}, caller({ allowProviders: ['b'] })), { kind: 'key_policy_leaves_none' })
  t.match(refused('llm', auto, {}, caller({ chain: { llm: ['b/x'] } })), { kind: 'key_policy_leaves_none' })
  t.match(answered('tts', pinned('b', 'bare'), {}, caller({}, { test: true })), {
    code: 'access_denied',
    message: /test key/,
  })
  t.match(answered('llm', auto, { needs: ['tools'] }), {
    code: 'capability_unsupported',
    param: '/tools',
    message: 'tools is not supported by any llm model here.',
    hint: /^Leave it out; GET/,
  })
  t.match(answered('llm', pinned('a', 'm'), { needs: ['tools'] }), {
    code: 'capability_unsupported',
    message: /the pinned model/,
  })
  t.match(answered('tts', auto, { voice: 'v9' }), {
    code: 'capability_unsupported',
    param: '/voice',
    message: /^The voice .* is not supported by any tts model here\. Known voices: v1\.$/,
  })
  t.match(answered('tts', auto, { ...baseAsk(caller(), 'tts', { ...auto, allowProviders: ['a'] }, 'de-AT') }), {
    code: 'capability_unsupported',
    param: '/language',
    message: 'The language de-AT is not supported by any tts model that the allowed providers leave.',
    hint: /allow a provider/,
  })

  a.reason = 'not_running'
  t.match(refused('llm', auto), { kind: 'none_callable', detail: { retryAfterS: 30 } })
  t.match(answered('llm', auto), { code: 'provider_unavailable', hint: /not running/ })
  a.reason = null
  const row = chooser.world.catalog.find('llm', 'a', 'm')
  if (!row) throw new Error('no row')
  for (let i = 0; i < 3; i++) health.begin(row, 'stream')?.failed(failure('server'))
  t.match(refused('llm', auto), { kind: 'none_callable', detail: { retryAfterS: 5 } }, 'the circuit says when')
  await clock.advance(2500)
  t.match(refused('llm', auto), { detail: { retryAfterS: 3 } })
  await clock.advance(2500)
  t.equal(chooser.chooseSome(baseAsk(caller(), 'llm', auto, undefined)).candidates.length, 1)
})

t.test('a test key reaches only the providers that are configured for test keys', (t) => {
  const { chooser } = bench([provider('real', [model('llm')]), provider('loopback', [model('llm')])], ['loopback'])
  const of = (test: boolean) =>
    chooser.choose(baseAsk(caller({}, { test }), 'llm', auto, undefined)).candidates.map(({ row }) => row.pin)
  t.same(of(true), ['loopback/m'])
  t.same(of(false), ['real/m', 'loopback/m'])
  t.end()
})

t.test('the model chain of an API key sets the order of auto routing, but does not limit pinned models', (t) => {
  const providers = ['a', 'b', 'c'].map((id) => provider(id, [model('llm')]))
  const chained = caller({ chain: { llm: ['c/m', 'a/m'] } })
  t.same(pins(providers, 'llm', {}, chained), ['c/m', 'a/m'])
  t.same(pins(providers, 'llm', { routing: pinned('b', 'm') }, chained), ['b/m'])
  t.end()
})

t.test('the weights of each routing objective sum to 1, and its main benchmark figure has the largest weight', (t) => {
  t.same(weights.balanced, { quality: 0.5, latency: 0.3, cost: 0.2 })
  for (const objective of ['balanced', 'quality', 'latency', 'cost'] as const) {
    t.equal(Math.round(axes.reduce((sum, axis) => sum + weights[objective][axis], 0) * 1e9), 1e9)
    t.equal(leading[objective], [...axes].sort((a, b) => weights[objective][b] - weights[objective][a])[0])
  }
  t.end()
})

t.test('candidates are ranked by benchmark figures, and ties keep the order of the catalog', (t) => {
  const llm = (
    id: string,
    quality: number | null,
    ms: number | null,
    input: number | null,
    over: Partial<Model> = {},
  ) =>
    provider(id, [
      model('llm', {
        benchmarks: [figure('pass_rate_pct', quality), figure('ttfb_p50_ms', ms)],
        prices: [price('million_input_tokens', input), price('million_output_tokens', input)],
        ...over,
      }),
    ])
  const objective = (name: 'balanced' | 'quality' | 'latency' | 'cost') => ({
    routing: { mode: 'auto' as const, objective: name },
  })

  t.test('each routing objective ranks the best model for that objective first', (t) => {
    const providers = [llm('good', 99, 2000, 900), llm('fast', 60, 100, 500), llm('cheap', 50, 1500, 10)]
    t.equal(pins(providers, 'llm', objective('quality'))[0], 'good/m')
    t.equal(pins(providers, 'llm', objective('latency'))[0], 'fast/m')
    t.equal(pins(providers, 'llm', objective('cost'))[0], 'cheap/m')
    const { chooser } = bench(providers)
    const [first] = chooser.choose({
      ...baseAsk(caller(), 'llm', auto, undefined),
      ...objective('balanced'),
    }).candidates
    t.match(first, { row: { pin: 'good/m' }, score: 0.5, parts: { quality: 1, latency: 0, cost: 0 } })
    t.end()
  })

  t.test('a model without the benchmark figure that matters most for the objective is ranked last', (t) => {
    const providers = [llm('unknown', null, 1, 0), llm('worst', 10, 5000, 9000), llm('best', 90, 100, 10)]
    t.same(pins(providers, 'llm'), ['best/m', 'worst/m', 'unknown/m'])
    const { chooser } = bench(providers)
    const last = chooser.choose(baseAsk(caller(), 'llm', auto, undefined)).candidates.at(-1)
    t.match(last, { score: null, parts: { quality: null, latency: 1, cost: 1 } })
    t.end()
  })

  t.test('a price of 0 counts in the ranking, and an unknown price does not', (t) => {
    t.same(
      pins(
        [llm('unknown', 50, 100, null), llm('free', 50, 100, 0), llm('dear', 50, 100, 10)],
        'llm',
        objective('cost'),
      ),
      ['free/m', 'dear/m', 'unknown/m'],
    )
    t.end()
  })

  t.test("ties keep the catalog's order, and a last-resort model comes last even with the best figures", (t) => {
    t.same(pins([llm('b', 50, 1, 1), llm('a', 50, 1, 1)], 'llm'), ['b/m', 'a/m'])
    t.same(pins([llm('scripted', 100, 1, 0, { lastResort: true }), llm('none', null, null, null)], 'llm'), [
      'none/m',
      'scripted/m',
    ])
    t.end()
  })

  t.test('if two sources measured a benchmark, only the source with more models affects the ranking', (t) => {
    const stt = (id: string, value: number, source: string) =>
      provider(id, [model('stt', { benchmarks: [figure('wer_pct', value, { path: 'batch', source })] })])
    const { chooser } = bench([stt('a', 9, 'one'), stt('b', 5, 'one'), stt('c', 1, 'other')])
    const { candidates } = chooser.choose(baseAsk(caller(), 'stt', auto, undefined))
    t.same(
      candidates.map(({ row, parts }) => [row.pin, parts.quality]),
      [
        ['b/m', 1],
        ['a/m', 0],
        ['c/m', null],
      ],
    )
    t.end()
  })

  t.test('batch benchmarks do not rank streams, and benchmarks for English do not rank other languages', (t) => {
    const fast = provider('batch', [
      model('tts', { benchmarks: [figure('aa_speech_arena_elo', 2000, { path: 'batch' })] }),
    ])
    const slow = provider('stream', [model('tts', { benchmarks: [figure('aa_speech_arena_elo', 1)] })])
    t.same(pins([fast, slow], 'tts'), ['stream/m', 'batch/m'])
    const { chooser } = bench([fast, slow])
    const german = chooser.choose(baseAsk(caller(), 'tts', auto, 'de')).candidates
    t.same(
      german.map(({ score }) => score),
      [null, null],
    )
    t.end()
  })

  t.test('es-MX ranks models with es-MX first, and still allows models that list only es', (t) => {
    const es = (id: string, elo: number, languages: string[]) =>
      provider(id, [model('tts', { languages, benchmarks: [figure('aa_speech_arena_elo', elo, { language: 'es' })] })])
    const providers = [es('general', 1300, ['es']), es('mexican', 1000, ['es', 'es-MX']), es('english', 2000, ['en'])]
    const { chooser } = bench(providers)
    const of = (tag: string) => chooser.choose(baseAsk(caller(), 'tts', auto, tag)).candidates.map(({ row }) => row.pin)
    t.same(of('es-MX'), ['mexican/m', 'general/m'])
    t.same(of('es'), ['general/m', 'mexican/m'])
    t.same(of('es-AR'), ['general/m', 'mexican/m'])
    t.end()
  })
  t.end()
})

t.test('the list of models contains only routable models, ranked for a language and for stream or batch', (t) => {
  const gone = provider('gone', [model('llm')])
  gone.reason = 'no_credential'
  const stt = model('stt', {
    languages: ['en'],
    benchmarks: [
      figure('wer_pct', 5, { path: 'batch' }),
      figure('wer_pct', 7),
      figure('wer_pct', 9, { language: 'de' }),
    ],
  })
  const { chooser, catalog, health } = bench([provider('a', [stt, model('tts')]), provider('b', [model('stt')]), gone])
  const list = createListModels(chooser)
  const english = list({ caller: caller({ chain: { stt: ['b/m'] }, voice: 'nobody has it' }) })
  t.match(english, { language: 'en', objective: 'balanced', path: 'stream', catalogDigest: catalog.digest() })
  t.same(
    english.models.map(({ pin, rank, model }) => `${model.stage} ${rank} ${pin}`),
    ['stt 1 a/m', 'stt 2 b/m', 'tts 1 a/m'],
  )
  t.same(
    english.models[0]?.benchmarks.map(({ value }) => value),
    [7],
  )
  t.equal(english.models[1]?.score, null)
  t.same(
    list({ caller: caller(), path: 'batch' }).models[0]?.benchmarks.map(({ value }) => value),
    [5],
  )

  const french = list({ caller: caller(), language: 'fr-CA' })
  t.equal(french.language, 'fr-CA')
  t.same(
    french.models.map(({ benchmarks }) => benchmarks.length),
    [0, 0, 0],
    'no figure is borrowed',
  )
  t.match(
    thrownFault(() => list({ caller: caller(), language: '??' })),
    { kind: 'bad_language_tag' },
  )

  const row = catalog.find('tts', 'a', 'm')
  if (!row) throw new Error('no row')
  for (let i = 0; i < 4; i++) health.begin(row, 'stream')?.succeeded({ firstByteMs: 120 })
  const live = list({ caller: caller() }).models[2]?.benchmarks ?? []
  t.same(
    live.map(({ metric, value, source }) => [metric, value, source]),
    [
      ['first_byte_ms', 120, 'measured'],
      ['error_rate', 0, 'measured'],
    ],
  )
  t.end()
})

t.test('a preview explains the candidates and the exclusions', (t) => {
  const { chooser } = bench([
    provider('a', [model('llm')]),
    provider('b', [model('llm')]),
    provider('c', [model('llm')]),
  ])
  const seen = createPreview(chooser)({
    caller: caller(),
    stage: 'llm',
    language: 'en',
    routing: { ...auto, denyProviders: ['b'] },
  })
  t.match(seen, {
    stage: 'llm',
    language: 'en',
    candidate: 'a/m',
    runnersUp: ['c/m'],
    excluded: [{ provider: 'b', model: 'm', reason: 'denied' }],
    weights: weights.balanced,
    catalogDigest: /^sha256:/,
  })
  t.end()
})
