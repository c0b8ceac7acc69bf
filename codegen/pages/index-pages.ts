/** The start page, the page of each API, and llms.txt. */
import type { Contract, Operation } from './contract.ts'
import { blocks, code, firstSentence, list, section, table } from './markdown.ts'
import { linkTo, type Page } from './page.ts'
import { placeOf } from './reference-pages.ts'

const start = `Documentation of this server's version, made from its contracts. ${code('PARLEY_URL')} in the examples is the
address of the server, such as ${code('http://127.0.0.1:8080')}, and ${code('PARLEY_API_KEY')} an API key.`

/** `guides` is Markdown: the links to the guides by subject. */
export function startPage(contracts: readonly Contract[], guides: string): Page {
  const surfaces = contracts.map((contract) => {
    const { name, title, operations, channels, errors } = contract
    const counts = [
      count(operations.length, 'operation'),
      count(contract.webhooks.length, 'webhook'),
      count(channels.length, 'channel'),
      count(errors.length, 'error code'),
    ].filter((text) => text !== '')
    return `[${title}](${name}/index.md): ${counts.join(', ')}`
  })
  const text = blocks(
    '# Parley documentation',
    start,
    section('## Reference', list(surfaces)),
    section('## Guides', guides),
  )
  return {
    path: 'index',
    kind: 'start',
    title: 'Parley documentation',
    parent: '',
    summary: 'Reference and guides',
    words: '',
    text,
  }
}

export function surfacePage(contract: Contract): Page {
  const { name, title, summary, description, tags, operations, webhooks, channels, errors, schemas } = contract
  const groups = tags.map((tag) => {
    const rows = operations.filter((operation) => operation.tag === tag.name).map(operationRow)
    return rows.length === 0 ? '' : section(`### ${tag.name}`, tag.description, table(['request', 'operation'], rows))
  })
  const untagged = operations.filter(({ tag }) => !tags.some((each) => each.name === tag)).map(operationRow)
  const text = blocks(
    `# ${title}`,
    description,
    section('## Operations', ...groups, table(['request', 'operation'], untagged)),
    section(
      '## Channels',
      list(channels.map(({ id, address, summary }) => `${code(address)}: ${linkTo('channel', id, summary)}`)),
    ),
    section(
      '## Webhooks',
      list(webhooks.map(({ id, path, summary }) => `${linkTo('webhook', id, code(path))}: ${summary}`)),
    ),
    section(
      '## Error codes',
      table(
        ['code', 'comes as', 'meaning'],
        errors.map((row) => [linkTo('error', row.code, code(row.code)), placeOf(row), row.message]),
      ),
    ),
    section('## Schemas', list(Object.keys(schemas).map((schema) => linkTo('schema', schema, schema)))),
  )
  const words = `${name} surface`
  return {
    path: `${name}/index`,
    kind: 'surface',
    title,
    parent: '',
    summary: summary || firstSentence(description),
    words,
    text,
  }
}

/** Writes llms.txt: the list of all pages but schemas, for programs that read documentation (llmstxt.org). */
export function llmsText(pages: readonly Page[]): string {
  const sections = [...new Set(pages.map(({ parent }) => parent))].map((parent) => {
    const inside = pages.filter((page) => page.parent === parent && page.kind !== 'start' && page.kind !== 'schema')
    return section(`## ${parent === '' ? 'Surfaces' : parent}`, list(inside.map(llmsLine)))
  })
  return `${blocks('# Parley', '> A self-hosted voice gateway: speech to text, text to speech, language models, voice agents and phone calls.', start, ...sections)}\n`
}

function llmsLine({ kind, title, path, summary, words }: Page): string {
  const address = kind === 'operation' || kind === 'channel' ? words : ''
  const more = [address, summary === title ? '' : summary].filter((text) => text !== '').join('. ')
  return `[${title}](${path}.md)${more === '' ? '' : `: ${more}`}`
}

function operationRow({ id, method, path, summary }: Operation): string[] {
  return [code(`${method.toUpperCase()} ${path}`), linkTo('operation', id, summary)]
}

const count = (number: number, noun: string) => (number === 0 ? '' : `${number} ${noun}${number === 1 ? '' : 's'}`)
