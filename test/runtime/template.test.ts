import t from 'tap'
import { renderTemplate, templateFault } from '../../runtime/values/template.ts'

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
  const startedMs = process.cpuUsage()
  t.same(renderTemplate('{% for i in (1..9000000) %}{% endfor %}', {}, {}), { kind: 'render_failed' })
  const { user, system } = process.cpuUsage(startedMs)
  t.ok((user + system) / 1000 < 1000)
  t.end()
})

t.test('a long expression is refused before Liquid evaluates it', (t) => {
  for (const text of [
    `{{ a${'.b'.repeat(32_000)} }}`,
    `{{ a["}}"]${'.b'.repeat(32_000)} }}`,
    `{{ a${' | upcase'.repeat(7000)} }}`,
    `{% if a${'[b]'.repeat(20_000)} %}x{% endif %}`,
    `{{ 1${'>a'.repeat(32_000)} }}`,
    `{%- if a${' and a'.repeat(10_000)} -%}x{% endif %}`,
    `{{ 1${'>a'.repeat(900)} }}`.repeat(30),
  ]) {
    const before = process.cpuUsage()
    t.same(templateFault(text), { kind: 'too_costly' })
    t.same(renderTemplate(text, {}, {}), { kind: 'render_failed' })
    const { user, system } = process.cpuUsage(before)
    t.ok((user + system) / 1000 < 100, 'twice')
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
  const before = process.cpuUsage()
  renderTemplate(`${`{{ 1${'>a'.repeat(900)} }}`.repeat(15)}{{ ${missing} }}`, { a: '1' }, {})
  const { user, system } = process.cpuUsage(before)
  t.ok((user + system) / 1000 < 150, `${(user + system) / 1000} ms`)
  t.end()
})
