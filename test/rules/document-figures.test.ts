/**
 * Checks the figures in README.md and docs/: a setting's figure is its default, a limit equals its constant in the
 * source, and a measurement has its date.
 */
import t from 'tap'
import { parse } from 'yaml'
import { configKeys } from '../../generated/config/keys.ts'
import { constantIn } from './constants.ts'
import { kibibyte, limits, second } from './document-limits.ts'
import { files, read } from './source.ts'

/** The documents that people write. Other tests check the figures in generated documents. */
const documents = files.filter((file) => /^(README|docs\/[^/]+)\.md$/.test(file) && file !== 'docs/errors.md')
const proseOf = (document: string) =>
  read(document)
    .replaceAll(/```.*?```/gs, ' ')
    .replaceAll(/\s+/g, ' ')

type Schema = { properties?: Record<string, Schema>; default?: unknown }
const schema = parse(read('specs/config.schema.yaml')) as Schema

/** Each setting under its name and under its environment variable, with its default. */
const settings = new Map(
  configKeys.flatMap(({ path, env }) => {
    const value = path.reduce<Schema | undefined>((inside, name) => inside?.properties?.[name], schema)?.default
    return [path.join('.'), env].map((name) => [name, { key: path.join('.'), value }] as const)
  }),
)

const words: Readonly<Record<string, number>> = {
  ...{ a: 1, an: 1, one: 1, two: 2, three: 3, four: 4, five: 5, six: 6, seven: 7, eight: 8, nine: 9, ten: 10 },
  ...{ half: 0.5, 'a quarter': 0.25 },
}
const units: Readonly<Record<string, number>> = {
  ...{ ms: 1, s: second, second, seconds: second, minute: 60 * second, minutes: 60 * second },
  ...{ hour: 3600 * second, hours: 3600 * second, day: 86_400 * second, days: 86_400 * second },
  ...{ KiB: kibibyte, 'KiB/s': kibibyte, MiB: kibibyte ** 2 },
}
/** The ending of a setting's name gives the setting's unit. */
const settingUnits: readonly [end: RegExp, unit: number][] = [
  [/Ms$/, 1],
  [/[a-z]S$/, second],
  [/Days$/, 86_400 * second],
]
const figure = String.raw`(\d[\d,.]*\d|\d|a quarter|(?:${Object.keys(words).slice(0, 12).join('|')})(?= ))`
const quantity = new RegExp(String.raw`(?<![\w.-])${figure}(?: (${Object.keys(units).join('|')})(?![\w]))?`, 'gi')

/** Returns the figures in a text, in milliseconds and bytes. */
function figuresIn(text: string): number[] {
  return [...text.matchAll(quantity)].flatMap(([, number = '', unit]) => {
    const count = words[number.toLowerCase()] ?? Number(number.replaceAll(',', ''))
    // "a" and "one" count as figures only before a unit.
    return unit === undefined && /^(an?|one)$/i.test(number)
      ? []
      : [count * (unit === undefined ? 1 : (units[unit] ?? 1))]
  })
}

type Mention = { setting: string; figures: number[] }

/**
 * Returns the settings with a figure beside them: "`name` (5 s)", "`name` 4,096", "`name`, 30 days", and "at most 5 s
 * (`name`)", where any figure in the sentence before the name may be the default.
 */
function mentionsIn(prose: string): Mention[] {
  return [...prose.matchAll(/`([A-Za-z_.]+)`/g)].flatMap(({ 1: name = '', index, 0: whole }) => {
    const setting = settings.get(name)
    if (typeof setting?.value !== 'number') return []
    const [behind = ''] = /^(?: \(|, | )[^`.;:|()]{0,24}/.exec(prose.slice(index + whole.length)) ?? []
    const isBehind = new RegExp(`^(?: \\(|, | )${figure}`, 'i').test(behind)
    if (isBehind) return [{ setting: name, figures: figuresIn(behind).slice(0, 1) }]
    if (prose[index - 1] !== '(') return []
    const before =
      prose
        .slice(0, index)
        .split(/[.:;?!] |\||`[^`)]*\)/)
        .at(-1) ?? ''
    return [{ setting: name, figures: figuresIn(before) }]
  })
}

t.test('a figure beside a setting is the default of the setting', (t) => {
  let found = 0
  for (const document of documents)
    for (const { setting, figures } of mentionsIn(proseOf(document))) {
      const { key, value } = settings.get(setting) ?? { key: '', value: 0 }
      const unit = settingUnits.find(([end]) => end.test(key))?.[1] ?? 1
      if (figures.length === 0) continue
      found += 1
      const wanted = Number(value)
      t.ok(figures.includes(wanted * unit), `${document}: ${setting} is ${wanted}, not ${figures.join(' or ')}`)
    }
  t.ok(found > 40, `${found} figures`)
  t.same(mentionsIn('after 6 s (`drain.lbDelayMs`) or `drain.graceMs` (21 s)'), [
    { setting: 'drain.lbDelayMs', figures: [6 * second] },
    { setting: 'drain.graceMs', figures: [21 * second] },
  ])
  t.end()
})

t.test('a limit in a document equals its constant in the source', (t) => {
  for (const [document, rows] of Object.entries(limits)) {
    const prose = proseOf(document)
    for (const [text, file, name, unit = 1] of rows) {
      const said = text.replace('{}', (constantIn(file, name) / unit).toLocaleString('en-US'))
      t.ok(
        prose.replaceAll(/(?<=\d),(?=\d)/g, '').includes(said.replaceAll(/(?<=\d),(?=\d)/g, '')),
        `${document}: ${said}`,
      )
    }
  }
  t.throws(() => constantIn('app/phone.ts', 'missing'), /no constant missing/)
  t.end()
})

/** Clients whose version a document names, with the file that pins the version for the tests. */
const versions: readonly [document: string, text: string, file: string, pin: RegExp][] = [
  ['docs/clients.md', '`openai` for Python {} ', 'test/clients/python/openai.txt', /^openai(?:\[\w+\])?==(\d+\.\d+)/m],
  ['docs/clients.md', '`openai` for Node {} ', 'test/clients/package.json', /"openai": "(\d+\.\d+)/],
  ['docs/clients.md', 'AI SDK {} ', 'test/clients/package.json', /"ai": "(\d+)/],
  ['docs/clients.md', '`spekoai` for Python {},', 'test/clients/python/family.txt', /^spekoai==(\d+\.\d+)/m],
  ['docs/clients.md', 'oapi-codegen {}, Go', 'test/foreign-generators/oapi-codegen.test.ts', /'v(\d+\.\d+\.\d+)'/],
  ['docs/clients.md', 'openapi-python-client {} ', 'test/clients/python/openapi-python-client.txt', /==(\S+)/],
  [
    'docs/clients.md',
    'openapi-generator {}, Java',
    'test/foreign-generators/openapi-generator.test.ts',
    /'(\d+\.\d+\.\d+)'/,
  ],
  ['docs/conform.md', '{} in `.cache`', 'test/clients/python/schemathesis.txt', /^schemathesis==(\d+\.\d+\.\d+)/m],
]

t.test('the version of a client in a document is the tested version', (t) => {
  for (const [document, text, file, pin] of versions) {
    const [, version = 'no version'] = pin.exec(read(file)) ?? []
    t.ok(proseOf(document).includes(text.replace('{}', version)), `${document}: ${version} of ${file}`)
  }
  t.end()
})

/** Words in a measurement. Each section with such words must name the day. */
const measured = /\b(?:two (?:busy |shared )?cores|busy machine|percentile|of processor time|of CPU)\b/
const day =
  /\b\d{1,2} (?:January|February|March|April|May|June|July|August|September|October|November|December) 20\d\d\b|\b2[0-9]{3}-\d\d-\d\d\b/

t.test('a measurement in a document has its date', (t) => {
  let found = 0
  for (const document of documents)
    for (const section of read(document).split(/^#+ /m)) {
      const prose = section.replaceAll(/\s+/g, ' ')
      if (!measured.test(prose)) continue
      found += 1
      t.match(prose, day, `${document}: ${section.slice(0, section.indexOf('\n'))}`)
    }
  t.ok(found > 8, `${found} sections`)
  t.end()
})
