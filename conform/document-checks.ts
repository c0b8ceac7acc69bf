/** Checks on a document and its paths. */
import { faultsIf } from './answer.ts'
import type { Conformance } from './conformance.ts'
import type { Document, Operation } from './contract.ts'
import { authorization } from './requests.ts'
import type { Found } from './results.ts'
import type { Surface } from './surfaces.ts'

export type DocumentCheck = {
  number: number
  name: string
  otherwise: string
  inspect: (run: Conformance, surface: Surface, release: Document) => Promise<Found> | Found
}

const noPaths = 'it has no paths'

export const documentChecks: readonly DocumentCheck[] = [
  { number: 1, name: 'it is served and valid', otherwise: 'it is not served', inspect: isValid },
  { number: 2, name: 'every operation answers', otherwise: noPaths, inspect: answers },
  { number: 3, name: 'other methods are 405 with a true Allow', otherwise: noPaths, inspect: otherMethods },
  { number: 4, name: 'it has all of this release', otherwise: 'it is not served', inspect: hasRelease },
  { number: 5, name: 'operation ids are unique', otherwise: noPaths, inspect: uniqueIds },
  { number: 6, name: 'OPTIONS and HEAD are as declared', otherwise: noPaths, inspect: optionsAndHead },
  { number: 7, name: 'nothing undeclared is served', otherwise: noPaths, inspect: nothingElse },
]

function isValid(_run: Conformance, { faults }: Surface): Found {
  return faults
}

/** Without a key a secured operation answers 401 before it does anything. A missing path answers 404. */
async function answers(run: Conformance, { operations }: Surface): Promise<Found> {
  if (operations.length === 0) return null
  const faults: string[] = []
  for (const operation of operations) {
    const { status } = await run.http.send({ method: operation.method, path: concrete(operation.path), headers: {} })
    faults.push(...faultsIf(status === 404 || status === 405, `${operation.id} is answered ${status}`))
  }
  return faults
}

/** Returns the path with an example for each parameter. */
const concrete = (path: string) => path.replace(/\{\w+\}/g, '0')

const allMethods = ['GET', 'PUT', 'POST', 'PATCH', 'DELETE'] as const

async function otherMethods(run: Conformance, { operations }: Surface): Promise<Found> {
  if (operations.length === 0) return null
  const faults: string[] = []
  for (const path of new Set(operations.map((operation) => operation.path))) {
    const declared = methodsAt(run.operations, path)
    for (const method of allMethods.filter((each) => !declared.has(each))) {
      const { status, headers } = await run.http.send({
        method,
        path: concrete(path),
        headers: authorization(run.keys.key),
      })
      const allowed = (headers['allow'] ?? '').split(/, */).filter((name) => name !== '' && name !== 'OPTIONS')
      faults.push(
        ...faultsIf(status !== 405, `${method} ${path} is answered ${status}, not 405`),
        ...faultsIf(status === 405 && !isTrue(allowed, declared), `${method} ${path}: Allow is ${headers['allow']}`),
      )
    }
  }
  return faults
}

/**
 * Returns the methods at exactly this path. A request to a literal path never reaches a path such as /agents/{id}, so
 * only the literal path's methods count.
 */
function methodsAt(operations: readonly Operation[], path: string): Set<string> {
  return new Set(operations.filter((operation) => operation.path === path).map(({ method }) => method))
}

/** GET implies HEAD. */
function isTrue(allowed: readonly string[], declared: ReadonlySet<string>): boolean {
  const names = allowed.filter((name) => name !== 'HEAD')
  return names.length === declared.size && names.every((name) => declared.has(name))
}

function hasRelease(_run: Conformance, { document }: Surface, release: Document): Found {
  return differences({ ...release, servers: [] }, { ...document, servers: [] })
}

/** The maximum number of listed differences. */
const differencesMax = 20

/** Returns the paths where the served document lacks a part of the release's document, or has changed it. */
export function differences(release: unknown, served: unknown, pointer = '#'): string[] {
  if (typeof release !== 'object' || release === null)
    return faultsIf(release !== served, `${pointer} is ${shown(served)}, not ${shown(release)}`)
  if (Array.isArray(release)) return listDifferences(release, served, pointer)
  if (typeof served !== 'object' || served === null) return [`${pointer} is ${shown(served)}`]
  return Object.entries(release)
    .flatMap(([key, value]) => {
      const next = `${pointer}/${key.replaceAll('/', '~1')}`
      return Object.hasOwn(served, key)
        ? differences(value, (served as Record<string, unknown>)[key], next)
        : [`${next} is missing`]
    })
    .slice(0, differencesMax)
}

/**
 * Returns the released values that the served list lacks. Additional served values, such as a new event or scope, are
 * allowed.
 */
function listDifferences(release: readonly unknown[], served: unknown, pointer: string): string[] {
  if (!Array.isArray(served)) return [`${pointer} is ${shown(served)}`]
  const known = new Set(served.map((each) => JSON.stringify(each)))
  return release.filter((each) => !known.has(JSON.stringify(each))).map((each) => `${pointer} lacks ${shown(each)}`)
}

const shownMax = 80
const shown = (value: unknown) => (value === undefined ? 'missing' : JSON.stringify(value).slice(0, shownMax))

function uniqueIds(_run: Conformance, { operations }: Surface): Found {
  if (operations.length === 0) return null
  const ids = operations.map(({ id }) => id)
  return [...new Set(ids.filter((id, index) => ids.indexOf(id) !== index))].map((id) => `${id} comes twice`)
}

async function optionsAndHead(run: Conformance, { operations }: Surface): Promise<Found> {
  if (operations.length === 0) return null
  const faults: string[] = []
  for (const path of new Set(operations.map((operation) => operation.path))) {
    const declared = methodsAt(run.operations, path)
    const send = (method: string) => run.http.send({ method, path: concrete(path), headers: {} })
    const options = await send('OPTIONS')
    const allowed = (options.headers['allow'] ?? '').split(/, */).filter((name) => name !== '' && name !== 'OPTIONS')
    const head = await send('HEAD')
    faults.push(
      ...faultsIf(options.status !== 204 && options.status !== 200, `OPTIONS ${path} is answered ${options.status}`),
      ...faultsIf(!isTrue(allowed, declared), `OPTIONS ${path}: Allow is ${options.headers['allow'] ?? 'missing'}`),
      ...faultsIf(!declared.has('GET') && head.status !== 405, `HEAD ${path} is answered ${head.status}, not 405`),
      ...faultsIf(declared.has('GET') && head.status === 405, `HEAD ${path} is answered 405`),
      ...faultsIf(head.body.length > 0, `HEAD ${path} has a body`),
    )
  }
  return faults
}

/**
 * If the served document leaves out an operation, it must not answer. A path outside all releases must not answer
 * either.
 */
async function nothingElse(run: Conformance, surface: Surface, release: Document): Promise<Found> {
  const { operations, document } = surface
  if (operations.length === 0) return null
  const base = Array.isArray(document.servers) ? String((document.servers as { url?: string }[])[0]?.url ?? '') : ''
  const prefix = base.replace(/\/$/, '')
  const lost = Object.entries(release.paths ?? {}).flatMap(([path, item]) =>
    allMethods
      .filter((method) => method.toLowerCase() in item && !methodsAt(run.operations, prefix + path).has(method))
      // A faulty server carries out the request. So only requests without an effect are sent: GET, and requests for an
      // unknown id.
      .filter((method) => method === 'GET' || path.includes('{'))
      .map((method) => [method, prefix + path] as const),
  )
  const faults: string[] = []
  for (const [method, path] of [...lost, ['GET', `${prefix}/v1/conform-unknown`] as const]) {
    const { status } = await run.http.send({ method, path: concrete(path), headers: authorization(run.keys.key) })
    faults.push(
      ...faultsIf(status !== 404 && status !== 405, `${method} ${path} is not declared and is answered ${status}`),
    )
  }
  return faults
}
