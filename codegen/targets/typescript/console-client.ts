/**
 * Emits the client for signing in to the console. Only the console's pages use it. Its operations are only in the
 * internal OpenAPI document, so no published client has them. It imports the modules for requests and errors from the
 * published TypeScript client.
 */
import type { OpenApiDocument } from '../../ir.ts'
import { emitClient } from './client.ts'
import { emitClientTypes } from './client-types.ts'

const engine = '../clients/typescript/'
const isOfClient = ({ path }: { path: string }) => path.startsWith('/console/auth/') && !path.includes('/oidc/')

/** Returns each file's text by its name. Empty if the document has no such operations. */
export function emitConsoleClient(document: OpenApiDocument): [name: string, text: string][] {
  const operations = document.operations.filter(isOfClient)
  if (operations.length === 0) return []
  const console = { ...document, name: 'console', operations }
  const client = emitClient(console)
    .replaceAll("'./models/console.ts'", "'./types.ts'")
    .replaceAll(/from '\.\/(?!types\.ts)/g, `from '${engine}`)
  return [
    ['client.ts', client],
    ['types.ts', emitClientTypes(console)],
  ]
}
