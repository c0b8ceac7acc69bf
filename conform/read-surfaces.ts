/** Reads all documents from the server. A document that cannot be read is a failure in the report. */
import { checks } from './checks.ts'
import type { ErrorRow } from './contract.ts'
import type { Http, Received } from './http.ts'
import { Unanswered } from './limits.ts'
import type { Results } from './results.ts'
import { released, type Surface, surfaceOf } from './surfaces.ts'

/** No server answers at the URL, so nothing can be checked. */
export class NoAnswer extends Error {}

/** How long the server may take to answer a document, in milliseconds. */
const documentMs = 30_000

/** Reads the server's documents. Throws NoAnswer if no request is answered. */
export async function readSurfaces(
  http: Http,
  results: Results,
  isChosen: (name: string) => boolean,
): Promise<Map<string, Surface>> {
  const surfaces = new Map<string, Surface>()
  const unanswered: string[] = []
  let errors: Readonly<Record<string, ErrorRow>> = {}
  for (const [name, path] of released) {
    if (isChosen(name)) results.add('document', name, path, checks.document)
    try {
      const received = await http.within(documentMs, () => http.send({ method: 'GET', path, headers: {} }))
      const surface = surfaceOf(name, textOf(received), errors)
      errors = surface.errors
      surfaces.set(name, surface)
      if (!isJson(received)) results.record(name, 1, [`the type is ${received.headers['content-type'] ?? 'missing'}`])
    } catch (error) {
      if (!(error instanceof Error) || http.ended.aborted) throw error
      if (error instanceof Unanswered) unanswered.push(error.message)
      results.add('document', name, path, checks.document)
      results.record(name, 1, [`it cannot be read: ${error.message}`])
    }
  }
  if (unanswered.length === released.length) throw new NoAnswer(unanswered[0])
  return surfaces
}

const isJson = ({ headers }: Received) => /^application\/json\b/.test(headers['content-type'] ?? '')

function textOf({ status, body, broken }: Received): string {
  if (status !== 200) throw new Error(`answered ${status}`)
  if (broken !== null) throw new Error(broken)
  return body.toString()
}
