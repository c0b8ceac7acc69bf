/** Tests the written documentation as a whole: the pages that it has, their HTML, and every link between them. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { type DefaultTreeAdapterTypes, defaultTreeAdapter, parse } from 'parse5'
import t from 'tap'
import { docUrl } from '../../runtime/http/doc-url.ts'
import { contracts, writtenSite } from './site.ts'

type Element = DefaultTreeAdapterTypes.Element
type Node = DefaultTreeAdapterTypes.Node

const folder = writtenSite((remove) => t.teardown(remove))
const files = readdirSync(folder, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
const pages = files.filter((file) => file.endsWith('.html'))
const read = (file: string) => readFileSync(path.join(folder, file), 'utf8')

/** One page, parsed. `errors` are the faults that the HTML parser reports. */
type Parsed = { elements: Element[]; errors: string[]; ids: string[] }
const parsed = new Map(pages.map((page) => [page, parsePage(read(page))]))

t.test('each operation, webhook, channel, schema and error code has a page, and nothing else does', (t) => {
  const expected = contracts.flatMap((contract) => [
    `${contract.name}/index`,
    ...contract.operations.map(({ id }) => `${contract.name}/operation-${id}`),
    ...contract.webhooks.map(({ id }) => `${contract.name}/webhook-${id}`),
    ...contract.channels.map(({ id }) => `${contract.name}/channel-${id}`),
    ...contract.errors.map(({ code }) => `${contract.name}/error-${code}`),
    ...Object.keys(contract.schemas).map((name) => `${contract.name}/schema-${name}`),
  ])
  t.same(pages.filter((page) => contracts.some(({ name }) => page.startsWith(`${name}/`))).sort(), withEnd(expected))
  t.ok(expected.length > 800, `${expected.length} pages`)
  const lowerCase = new Set(files.map((file) => file.toLowerCase()))
  t.equal(lowerCase.size, files.length, 'no two names differ only in case')
  t.end()
})

t.test('the documentation URL in an error leads to the page on its error code', (t) => {
  const tables = ['router', 'platform', 'realtime', 'session'] as const
  for (const table of tables) {
    const codes = contracts.find(({ name }) => name === table)?.errors.map(({ code }) => code) ?? []
    t.ok(codes.length > 10, `${table} has ${codes.length} codes`)
    for (const code of codes) {
      const page = docUrl(table, code).slice('/docs/'.length)
      if (!files.includes(page)) t.fail(`${page} is missing`)
    }
  }
  t.end()
})

t.test('each page is also Markdown, which has the same title, and is in the index of the search', (t) => {
  const index = JSON.parse(read('search.json')) as [string, string, string, string, string][]
  t.same(withEnd(index.map(([page]) => page)), pages.filter((page) => page !== '404.html').sort())
  for (const [page, title, kind] of index) {
    const text = read(`${page}.md`)
    if (!text.startsWith(`# ${title}\n`)) t.fail(`${page}.md does not begin with the title ${title}`)
    if (kind === '') t.fail(`${page} has no kind`)
  }
  t.end()
})

t.test('the HTML of each page has no fault, one title, and neither style nor script inside', (t) => {
  for (const [page, { elements, errors, ids }] of parsed) {
    if (errors.length > 0) t.fail(`${page}: ${errors.join(', ')}`)
    if (countOf(elements, 'h1') !== 1) t.fail(`${page} has ${countOf(elements, 'h1')} titles`)
    if (new Set(ids).size !== ids.length) t.fail(`${page}: two elements have the same id`)
    const inside = elements.filter(({ tagName, attrs }) => {
      const isForeign = tagName === 'style' || (tagName === 'script' && !attrs.some(({ name }) => name === 'src'))
      return isForeign || attrs.some(({ name }) => name === 'style' || name.startsWith('on'))
    })
    if (inside.length > 0) t.fail(`${page}: the policy forbids ${inside.map(({ tagName }) => tagName).join(', ')}`)
  }
  t.end()
})

t.test('each link of a page leads to a file of the documentation and an existing anchor in it', (t) => {
  let links = 0
  for (const [page, { elements }] of parsed) {
    for (const target of targetsOf(elements)) {
      links++
      const fault = faultOf(page, target)
      if (fault !== null) t.fail(`${page}: ${target} ${fault}`)
    }
  }
  t.ok(links > 10_000, `${links} links`)
  t.end()
})

t.test('each link in Markdown and in llms.txt leads to a file', (t) => {
  for (const file of files.filter((name) => name.endsWith('.md') || name === 'llms.txt')) {
    const text = read(file).replaceAll(/^(```+)[^`][\s\S]*?^\1$|`[^`\n]*`/gm, '')
    for (const [, target = ''] of text.matchAll(/\]\(([^()\s]+)\)/g)) {
      const [name = ''] = target.split('#')
      const isThere = /^https?:/.test(name) || name === '' || existsSync(path.join(folder, path.dirname(file), name))
      if (!isThere) t.fail(`${file}: ${target}`)
    }
  }
  t.end()
})

t.test('the page of an operation has its access, parameters, body, answers, errors, examples and code', (t) => {
  const text = read('platform/operation-createAgent.md')
  t.match(text, '`POST /v1/agents`')
  t.match(text, 'API key: needed, with the scope `platform`')
  t.match(text, 'Users: from the role `member` on')
  t.match(text, /\| `name` required \| \[AgentName\]\(schema-AgentName\.md\) \|/)
  t.match(
    text,
    /\| `promptVariables` \| list of \[PromptVariable\]\(schema-PromptVariable\.md\) or null \| .*At most 64 entries\./,
  )
  t.match(text, '### 201')
  t.match(text, '| 409 | [`AGENT_NAME_CONFLICT`](error-AGENT_NAME_CONFLICT.md)')
  t.match(text, '### curl\n\n```sh\ncurl "$PARLEY_URL/v1/agents"')
  t.match(text, '### TypeScript\n\n```ts\nimport { createPlatformClient }')
  t.match(read('router/operation-createSpeech.md'), '`POST /router/v1/tts/speech`')
  t.match(read('compat/operation-createChatCompletion.md'), 'Each frame has [ChatCompletionChunk](schema-')
  t.match(read('compat/schema-ChatCompletionChunk.md'), '(operation-createChatCompletion.md)')
  t.match(read('router/operation-createResponse.md'), '| `response.text.delta` | [ResponseTextDelta](schema-')
  t.match(read('platform/error-AGENT_NAME_CONFLICT.md'), '- [Create an agent](operation-createAgent.md)')
  t.match(read('platform/schema-AgentName.md'), '- [NewAgent](schema-NewAgent.md)')
  t.end()
})

t.test('the start page lists each guide once', (t) => {
  const listed = [...read('index.md').matchAll(/\]\(guides\/([\w-]+)\.md\)/g)].map(([, name]) => name)
  const guides = readdirSync(path.join(folder, 'guides')).filter((name) => name.endsWith('.md'))
  t.same(
    listed.toSorted(),
    guides.map((name) => path.basename(name, '.md')),
  )
  t.end()
})

t.test('the page of a webhook has its event, its signature headers, its body and how to verify it', (t) => {
  const text = read('platform/webhook-callPreCall.md')
  t.match(text, /^# call\.pre_call\n/)
  t.match(text, '| `webhook-signature` required | string |')
  t.match(text, '`application/json`: [PreCallEvent](schema-PreCallEvent.md)')
  t.match(text, '(../guides/webhooks.md#receive)')
  t.match(text, '## Your answer')
  t.end()
})

t.test('the page of a channel has the frames in both directions and their fields', (t) => {
  const text = read('realtime/channel-transcribeStream.md')
  t.match(text, '`WebSocket /v1/transcribe/stream`')
  t.match(text, /## Frames of the client[\s\S]*\| `audio` \| bytes \|[\s\S]*### config[\s\S]*## Frames of the server/)
  t.match(text, '| `sttOptions.language` | [Language](schema-Language.md) |')
  t.match(read('realtime/error-UPSTREAM.md'), 'then the close code 1011')
  t.end()
})

function withEnd(names: readonly string[]): string[] {
  return names.map((name) => `${name}.html`).sort()
}

function parsePage(html: string): Parsed {
  const errors: string[] = []
  const document = parse(html, { sourceCodeLocationInfo: true, onParseError: ({ code }) => void errors.push(code) })
  const elements = elementsIn(document)
  const ids = elements.flatMap(({ attrs }) => attrs.filter(({ name }) => name === 'id').map(({ value }) => value))
  return { elements, errors, ids }
}

function elementsIn(node: Node): Element[] {
  const own = defaultTreeAdapter.isElementNode(node) ? [node] : []
  return 'childNodes' in node ? [...own, ...node.childNodes.flatMap(elementsIn)] : own
}

function countOf(elements: readonly Element[], name: string): number {
  return elements.filter(({ tagName }) => tagName === name).length
}

function targetsOf(elements: readonly Element[]): string[] {
  return elements.flatMap(({ attrs }) =>
    attrs.filter(({ name }) => name === 'href' || name === 'src').map(({ value }) => value),
  )
}

/** Returns the reason why a link leads nowhere, or null if it leads to a page. */
function faultOf(page: string, target: string): string | null {
  if (/^https?:/.test(target)) return null
  const [name = '', fragment] = target.split('#')
  const relative = name.startsWith('/docs/')
    ? name.slice('/docs/'.length)
    : path.posix.join(path.posix.dirname(page), name)
  const file = name === '' ? page : relative
  if (!files.includes(file)) return 'is no file'
  if (fragment === undefined || !file.endsWith('.html')) return null
  return parsed.get(file)?.ids.includes(fragment) === true ? null : 'has no such place'
}
