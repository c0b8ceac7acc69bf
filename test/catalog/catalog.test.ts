/** The catalog file: its shipped content, its use in a provider's rows, and the merge with a newer file. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import t from 'tap'
import { noCapabilities } from '../../domain/ports/model.ts'
import type { CatalogFile } from '../../generated/catalog/types.ts'
import { parseCatalog, shippedFile } from '../../providers/catalog/file.ts'
import { openCatalog } from '../../providers/catalog/rows.ts'
import { mergeCatalogs, updateCatalog, updatedCatalogFile } from '../../providers/catalog/update.ts'
import type { VendorModel } from '../../providers/wire/adapter.ts'
import { processorMs } from '../processor-time.ts'

const folder = mkdtempSync(path.join(tmpdir(), 'parley-catalog-'))
t.teardown(() => rmSync(folder, { recursive: true, force: true }))
const shipped = parseCatalog(readFileSync(shippedFile, 'utf8'), 'the catalog that ships')
const { rows, published } = openCatalog(null)

function file(over: Partial<CatalogFile> = {}): CatalogFile {
  return {
    as_of: '2099-01-01',
    sources: { lab: { title: 'A lab', url: 'https://lab.example/stt', date: '2098-12', licence: 'CC-BY-4.0' } },
    models: [
      {
        vendor: 'deepgram',
        model: 'nova-3',
        stage: 'stt',
        figures: [
          {
            metric: 'wer_pct',
            value: 1.5,
            unit: 'percent',
            language: 'de',
            path: 'batch',
            source: 'lab',
            as_of: '2098-12',
          },
        ],
        prices: [{ unit: 'audio_hour', micro_usd: 1, path: 'batch', source: 'lab', as_of: '2099-01-01' }],
      },
    ],
    ...over,
  }
}
const row = (id: string): VendorModel => ({
  id,
  stage: 'stt',
  capabilities: { ...noCapabilities, batch: true },
  languages: ['*'],
  audioFormats: [],
  voices: [],
  providerOptions: [],
})

t.test('each figure and each price in the shipped catalog names its source', (t) => {
  const figures = shipped.models.flatMap((model) => model.figures)
  t.ok(figures.length > 400)
  for (const { source } of [...figures, ...shipped.models.flatMap(({ prices }) => prices)])
    t.ok(Object.hasOwn(shipped.sources, source), source)
  for (const { vendor, model, figures } of shipped.models) {
    const said = figures.map(({ metric, language, path, source, data }) =>
      [metric, language, path, source, data].join(' '),
    )
    t.equal(new Set(said).size, said.length, `${vendor}/${model} says nothing twice`)
    for (const { language } of figures) if (language !== '*') t.equal(new Intl.Locale(language).toString(), language)
  }
  const vendorReported = figures.filter((figure) => figure.interested).map(({ source }) => source)
  t.same([...new Set(vendorReported)].sort(), ['assemblyai-benchmarks', 'coval', 'speko'])
  t.end()
})

t.test('a configured model takes its figures, prices and dates from the catalog', (t) => {
  const [nova] = rows('deepgram', 'mine', [row('nova-3'), row('nova-2')], ['nova-3'])
  t.match(nova, { provider: 'mine', id: 'nova-3', lastResort: false })
  t.match(
    nova?.benchmarks.find(({ metric }) => metric === 'ttfs_p50_ms'),
    { value: 247, unit: 'ms', language: 'en', path: 'stream', source: 'Pipecat STT benchmark', asOf: '2026-02-13' },
  )
  t.same(
    nova?.prices.map(({ unit, path, microUsd }) => [unit, path, microUsd]),
    [
      ['audio_hour', 'batch', 258_012],
      ['audio_hour', 'stream', 288_000],
    ],
  )
  t.match(published('openai', 'stt', 'whisper-1'), { deprecationDate: '2027-02-26' })
  t.same(published('nobody', 'stt', 'nothing'), { benchmarks: [], prices: [] })
  t.throws(() => rows('deepgram', 'mine', [row('nova-3')], ['nova-9']), RangeError)
  t.end()
})

t.test('a model with the same weights at another provider has the same quality and another price', (t) => {
  const { benchmarks, prices } = published('groq', 'stt', 'whisper-large-v3')
  t.ok(benchmarks.some(({ source, language }) => source === 'Open ASR Leaderboard' && language === 'de'))
  t.same(
    prices.map(({ microUsd }) => microUsd),
    [110_988],
  )
  t.end()
})

t.test('the catalog is loaded in a few milliseconds', (t) => {
  const times: number[] = []
  for (let i = 0; i < 9; i++) {
    times.push(processorMs(() => void openCatalog(null).published('openai', 'llm', 'gpt-4o-mini')))
  }
  times.sort((a, b) => a - b)
  const parseMs = Number(times[4])
  t.comment(
    `catalog read, checked and indexed in ${parseMs.toFixed(1)} ms at the median, ${times[8]?.toFixed(1)} ms at most`,
  )
  t.ok(parseMs < 50)
  t.end()
})

t.test('a file that is not a catalog is refused, and the error names the fault', (t) => {
  const refused = (value: unknown, message: RegExp) =>
    t.throws(() => parseCatalog(typeof value === 'string' ? value : JSON.stringify(value), 'x.json'), {
      name: 'CatalogError',
      message,
    })
  refused('{', /^x\.json: is not JSON$/)
  refused({ ...file(), as_of: 'yesterday' }, /^x\.json: \/as_of must match pattern/)
  refused({ ...file(), extra: 1 }, /additional properties \(extra\)/)
  refused(file({ models: [{ ...file().models[0], prices: [{ unit: 'song' }] }] as never }), /\/models\/0\/prices\/0/)
  refused(
    file({ sources: { other: shipped.sources['litellm'] } as never }),
    /quotes lab, which is no source of the file/,
  )
  refused(file({ models: [...file().models, ...file().models] }), /stt:deepgram\/nova-3 is listed twice/)
  t.end()
})

t.test('a merge of two catalogs takes the figures of the newer file, and keeps the other figures', (t) => {
  const merged = mergeCatalogs(shipped, file())
  t.equal(merged.models.length, shipped.models.length)
  const nova = merged.models.find(({ vendor, model }) => vendor === 'deepgram' && model === 'nova-3')
  t.ok(nova?.figures.some(({ source }) => source === 'lab'))
  t.ok(nova?.figures.some(({ source }) => source === 'pipecat-stt-benchmark'))
  t.same(
    nova?.prices.map(({ path, micro_usd }) => [path, micro_usd]),
    [
      ['batch', 1],
      ['stream', 288_000],
    ],
    'one price a unit and path',
  )
  t.same(mergeCatalogs(merged, file()), merged, 'twice is as once')
  t.end()
})

t.test('`models update` copies a file or a URL into the data folder, and the copy is used afterwards', async (t) => {
  const source = path.join(folder, 'newer.json')
  const data = path.join(folder, 'data')
  writeFileSync(source, JSON.stringify(file()))
  const update = await updateCatalog(source, data)
  t.match(update, { before: shipped.as_of, after: '2099-01-01', path: path.join(data, updatedCatalogFile) })
  t.same(readdirSync(data), [updatedCatalogFile])
  const updated = openCatalog(update.path)
  t.equal(updated.published('deepgram', 'stt', 'nova-3').prices[0]?.microUsd, 1)
  t.match(updated.published('deepgram', 'stt', 'nova-3').benchmarks[0], {
    source: 'A lab',
    sourceUrl: 'https://lab.example/stt',
  })

  const before = readFileSync(update.path, 'utf8')
  writeFileSync(source, JSON.stringify(file({ as_of: '2098-01-01' })))
  await t.rejects(updateCatalog(source, data), {
    message: /is of 2098-01-01, and what is in force is newer \(2099-01-01\)/,
  })
  writeFileSync(source, '{"as_of":1}')
  await t.rejects(updateCatalog(source, data), { name: 'CatalogError' })
  await t.rejects(updateCatalog(path.join(folder, 'none.json'), data), { message: /cannot be read \(ENOENT\)/ })
  t.equal(readFileSync(update.path, 'utf8'), before, 'the old file is unchanged')

  const server = createServer((request, response) => {
    if (request.url === '/gone') response.writeHead(404).end()
    else response.end(JSON.stringify(file({ as_of: '2100-01-01' })))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  t.match(await updateCatalog(`${url}/catalog.json`, data), { before: '2099-01-01', after: '2100-01-01' })
  await t.rejects(updateCatalog(`${url}/gone`, data), { message: /answers 404/ })
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))

  writeFileSync(update.path, JSON.stringify(file({ as_of: '2001-01-01' })))
  t.equal(
    openCatalog(update.path).published('deepgram', 'stt', 'nova-3').prices[0]?.microUsd,
    258_012,
    'an upgrade of Parley overtakes an old update',
  )
  writeFileSync(update.path, 'no json')
  t.throws(() => openCatalog(update.path).published('deepgram', 'stt', 'nova-3'), {
    name: 'CatalogError',
    message: /catalog\.json: is not JSON/,
  })
})
