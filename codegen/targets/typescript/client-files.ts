/**
 * Emits the files that call one API from TypeScript: the published client, and the client and roles for the console's
 * pages.
 */
import type { AsyncApiDocument, OpenApiDocument } from '../../ir.ts'
import { emitClient } from './client.ts'
import { emitClientTypes } from './client-types.ts'
import { emitConsoleClient } from './console-client.ts'
import { emitConsoleRoles } from './console-roles.ts'
import { emitSocketClient } from './socket-client.ts'
import { emitWebhooks } from './webhooks.ts'

export type ClientLayout = {
  clientFolder: string | null
  /** The folder for the console's client. Left out if the document has no operations for signing in. */
  consoleFolder?: string
  /** The folder for the operations' roles. Left out if no page of the console uses the operations. */
  rolesFolder?: string
}

/** Returns each file's text by its path. */
export function emitClientFiles(document: OpenApiDocument, layout: ClientLayout): Map<string, string> {
  const { clientFolder, consoleFolder, rolesFolder } = layout
  const files = new Map<string, string>()
  if (clientFolder) {
    files.set(`${clientFolder}/${document.name}.ts`, emitClient(document))
    files.set(`${clientFolder}/models/${document.name}.ts`, emitClientTypes(document))
    if (document.webhooks.length > 0) files.set(`${clientFolder}/webhooks.ts`, emitWebhooks(document))
  }
  if (consoleFolder) for (const [name, text] of emitConsoleClient(document)) files.set(`${consoleFolder}/${name}`, text)
  if (rolesFolder) files.set(`${rolesFolder}/${document.name}-roles.ts`, emitConsoleRoles(document))
  return files
}

/** Returns each file's text by its path. */
export function emitSocketClientFiles(
  document: AsyncApiDocument,
  { clientFolder }: Pick<ClientLayout, 'clientFolder'>,
): Map<string, string> {
  if (clientFolder === null) return new Map()
  return new Map([
    [`${clientFolder}/${document.name}.ts`, emitSocketClient(document)],
    [`${clientFolder}/models/${document.name}.ts`, emitClientTypes(document)],
  ])
}
