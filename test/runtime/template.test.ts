import t from 'tap'
import { renderTemplate, templateFault } from '../../runtime/values/template.ts'
import { leastProcessorMs } from '../processor-time.ts'

t.test('a template is rendered even if a busy machine suspends the process', (t) => {
  const now = performance.now.bind(performance)
  t.teardown(() => Object.assign(performance, { now }))
  let [asides, asideMs] = [8, 0]
  performance.now = () => {
    if (asides-- > 0) asideMs += 1000
    return now() + asideMs
  }
  const rendered = renderTemplate('Hello {{ name }}, {{ unknown }}!', { name: 'Ada' }, {})
  t.same(rendered, { text: 'Hello Ada, !', missing: ['unknown'] })
  t.end()
})

t.test('a template that takes too long is refused, and delays no other template', (t) => {
  const endless = '{% for i in (1..9000000) %}{% endfor %}'
  const ms = leastProcessorMs(() => t.same(renderTemplate(endless, {}, {}), { kind: 'render_failed' }))
  t.ok(ms < 50, `${ms} ms`)
  t.end()
})

t.test('a long expression is refused before Liquid evaluates it', (t) => {
  for (const [text, kind] of [
    [`{{ a${'.b'.repeat(32_000)} }}`, 'expression_too_long'],
    [`{{ a["}}"]${'.b'.repeat(32_000)} }}`, 'expression_too_long'],
    [`{{ a${' | upcase'.repeat(7000)} }}`, 'expression_too_long'],
    [`{% if a${'[b]'.repeat(20_000)} %}x{% endif %}`, 'expression_too_long'],
    [`{{ 1${'>a'.repeat(32_000)} }}`, 'expression_too_long'],
    [`{%- if a${' and a'.repeat(10_000)} -%}x{% endif %}`, 'expression_too_long'],
    [`{{ 1${'>a'.repeat(900)} }}`.repeat(30), 'too_costly'],
  ] as const) {
    t.match(templateFault(text), { kind })
    t.same(renderTemplate(text, {}, {}), { kind: 'render_failed' })
    const ms = leastProcessorMs(() => [templateFault(text), renderTemplate(text, {}, {})])
    t.ok(ms < 50, `${ms} ms`)
  }
  for (const text of [
    `{% raw %}{{ a${'.b'.repeat(3000)} }}{% endraw %} ${'One. Two, three. '.repeat(200)}{{ a.b }}`,
    `{{ "${'Hello, dear caller. '.repeat(150)}" }} {{ a | default: '${"It\\'s fine, thanks. ".repeat(150)}' }}`,
    `{% # ${'a comment, '.repeat(300)} %}x`,
  ])
    t.equal(templateFault(text), null)
  t.match(templateFault('{{ a'), { kind: 'malformed', line: 1 })
  t.end()
})

t.test('a template with many missing variables in costly expressions ends in time', (t) => {
  const missing = Array.from({ length: 63 }, (_, at) => `m${at}`).join('>')
  const outputs = `{{ 1${'>a'.repeat(900)} }}`.repeat(15)
  for (const text of [`{{ 1${'>a'.repeat(850)}>${missing} }}`, `${outputs}{{ ${missing} }}`]) {
    const ms = leastProcessorMs(() => t.same(renderTemplate(text, { a: '1' }, {}), { kind: 'render_failed' }))
    t.ok(ms < 60, `${ms} ms`)
  }
  t.end()
})

t.test('a chain of costly filters ends in time', (t) => {
  const values = { letters: 'qwertzuiop'.repeat(409), wide: '𝐀'.repeat(2048), list: 'a,b,'.repeat(1024) }
  for (const text of [
    `{{ letters | split: ""${' | sort_natural'.repeat(60)} }}`,
    `{{ list | split: ","${' | sort: "x"'.repeat(60)} }}`,
    `{{ wide${' | cgi_escape'.repeat(60)} }}`,
    `{% assign x = letters | split: ""${' | sort_natural'.repeat(60)} %}`,
  ]) {
    const ms = leastProcessorMs(() => [templateFault(text), renderTemplate(text, values, {})])
    t.ok(ms < 50, `${ms} ms for ${text.slice(0, 50)}`)
  }
  t.end()
})

t.test(
  'Liquid filters that evaluate a quoted text as an expression are refused, because no limit applies to the text',
  (t) => {
    for (const filter of ['where', 'reject', 'group_by', 'find', 'find_index', 'has']) {
      const text = `{{ list | split: "" | ${filter}_exp: "item", "item${'.b'.repeat(30_000)}" }}`
      t.match(templateFault(text), { kind: 'malformed', line: 1 })
      const values = { list: 'x'.repeat(4096) }
      const ms = leastProcessorMs(() => t.same(renderTemplate(text, values, {}), { kind: 'render_failed' }))
      t.ok(ms < 50, `${ms} ms for ${filter}_exp`)
    }
    t.end()
  },
)

t.test('an expression has at most 32 names in a path and 64 filters', (t) => {
  const names = (count: number) => Array.from({ length: count }, (_, at) => `name${at}`)
  const filters = (count: number) => ' | upcase'.repeat(count)
  for (const text of [
    `{{ ${names(32).join('.')} }}`,
    `{{ a[${names(32).join('.')}].b }} {{ ${names(40).join(' }} {{ ')} }}`,
    `{% if ${names(40).join(' == 1 or ')} %}${names(40).join('.')}{% endif %}`,
    `{% for i in (1..${names(32).join('.')}) %}{{ i }}{% endfor %}`,
    `{{ "${names(40).join('.')}"${filters(64)} }}`,
  ])
    t.equal(templateFault(text), null, text.slice(0, 40))
  const long = { kind: 'expression_too_long', line: 2, column: 3 }
  for (const expression of [
    `{{ ${names(33).join('.')} }}`,
    `{{ a[b]["${names(31).join('"]["')}"] }}`,
    `{{ a[ ${names(32).join(' ][ ')} ] }}`,
    `{% assign x = a[${names(33).join('.')}].b %}`,
  ]) {
    t.same(templateFault(`Hello\n  ${expression}`), { ...long, counted: 'names', most: 32 }, expression.slice(0, 20))
    t.same(renderTemplate(expression, {}, {}), { kind: 'render_failed' })
  }
  t.match(templateFault(`{{ a${filters(65)} }}`), { line: 1, column: 1, counted: 'filters', most: 64 })
  t.match(templateFault(`{{ ${'a'.repeat(2000)} }}`), { counted: 'characters', most: 2000 })
  t.end()
})

t.test('rendering ends at the first output beyond the size limit', (t) => {
  const now = performance.now.bind(performance)
  t.teardown(() => Object.assign(performance, { now }))
  let looks = 0
  performance.now = () => {
    looks++
    return now()
  }
  // Liquid reads the clock before each output.
  t.same(renderTemplate('{{ text }}'.repeat(1999), { text: 'x'.repeat(4096) }, {}), { kind: 'render_failed' })
  t.ok(looks < 50, `${looks} looks at the time`)
  t.match(renderTemplate('{{ text }}'.repeat(32), { text: 'x'.repeat(4096) }, {}), { text: 'x'.repeat(131_072) })
  t.end()
})

t.test('values are rendered exactly as Liquid renders values', (t) => {
  const text =
    '{{ "a,b" | split: "," }} {{ 1.50 }} {{ true }} {{ nil }}{{ empty }} {% capture x %}{{ v }}{% endcapture %}{{ x }}'
  t.same(renderTemplate(text, { v: '<é>' }, {}), { text: 'ab 1.5 true  <é>', missing: [] })
  t.end()
})
