/** The page of a channel: how its socket is opened, and the frames in both directions. */
import type { Channel, Contract, Message } from './contract.ts'
import { blocks, code, json, list, section, table } from './markdown.ts'
import { namedTable } from './operation-page.ts'
import { fileOf, type Page } from './page.ts'
import { schemaText, typeText } from './schema-text.ts'
import { type Language, socketSnippets } from './snippets.ts'

export function channelPage(contract: Contract, channel: Channel, languages: readonly Language[]): Page {
  const { id, address, summary } = channel
  const { schemas } = contract
  const text = blocks(
    `# ${summary}`,
    code(`WebSocket ${address}`),
    channel.description,
    list(accessLines(contract, channel)),
    section('## Query', namedTable(channel.query, schemas)),
    section('## Headers', namedTable(channel.headers, schemas)),
    section('## Frames of the client', messageTable(channel.received), ...messageTexts(contract, channel.received)),
    section('## Frames of the server', messageTable(channel.sent), ...messageTexts(contract, channel.sent)),
    socketSnippets(contract, channel, languages),
  )
  const words = `${id} ${address} WebSocket`
  return {
    path: `${contract.name}/${fileOf('channel', id)}`,
    kind: 'channel',
    title: summary,
    parent: contract.title,
    summary,
    words,
    text,
  }
}

function accessLines({ title }: Contract, { id, scope, role, subprotocol }: Channel): string[] {
  return [
    `Channel: ${code(id)}, in the [${title}](index.md)`,
    ...(scope === null ? [] : [`API key: needed, with the scope ${code(scope)}`]),
    ...(role === null ? [] : [`Users: from the role ${code(role)} on`]),
    ...(subprotocol === null ? [] : [`Subprotocol: ${code(subprotocol)}`]),
  ]
}

function messageTable(messages: readonly Message[]): string {
  const rows = messages.map(({ name, isBinary, schema, summary }) => [
    code(name),
    isBinary || schema === null ? 'bytes' : typeText(schema),
    summary,
  ])
  return table(['frame', 'content', 'meaning'], rows)
}

function messageTexts({ schemas }: Contract, messages: readonly Message[]): string[] {
  return messages
    .filter(({ isBinary }) => !isBinary)
    .map(({ name, schema, examples }) =>
      section(
        `### ${name}`,
        schema === null ? '' : schemaText(schema, schemas),
        ...examples.map(({ summary, value }) =>
          blocks(summary === '' ? 'For example:' : `For example, ${summary}:`, json(value)),
        ),
      ),
    )
}
