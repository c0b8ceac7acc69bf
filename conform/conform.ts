/** Checks a running server against its documents: the command `parley conform`. */
import { channelChecks } from './channel-checks.ts'
import type { Listen } from './channel-session.ts'
import { checks, operationChecks } from './checks.ts'
import { Conformance, type Keys } from './conformance.ts'
import type { Document, ErrorRow } from './contract.ts'
import { documentChecks } from './document-checks.ts'
import { Fixtures, Missing } from './fixtures.ts'
import { Http, NoAnswer } from './http.ts'
import type { Probe } from './probe.ts'
import { mootReason } from './repeat-checks.ts'
import { type Found, inapplicable, Results, type TargetReport } from './results.ts'
import { released, type Surface, surfaceOf } from './surfaces.ts'

export type ConformOptions = {
  url: string
  keys: Keys
  /** Allow operations that spend money or replace settings. */
  spends: boolean
  /** Warnings are failures. */
  strict: boolean
  /** A folder for all requests and answers. Null if they are not kept. */
  recordTo: string | null
  /** The operations, channels and documents to check. Empty for all. */
  only: readonly string[]
}

/** `only` has a name that is neither an operation nor a channel nor a document. */
export class UnknownName extends Error {}

/** Throws UnknownName. Throws NoAnswer if no server answers at the address. */
export async function conform(options: ConformOptions): Promise<TargetReport[]> {
  const http = new Http(options.url, options.recordTo)
  try {
    return await check(http, options)
  } finally {
    await http.close()
  }
}

async function check(http: Http, { keys, spends, strict, only }: ConformOptions): Promise<TargetReport[]> {
  const results = new Results(strict)
  const isChosen = (name: string) => only.length === 0 || only.includes(name)
  for (const [name, path] of released) if (isChosen(name)) results.add('document', name, path, checks.document)
  const surfaces = await readSurfaces(http, results)
  const run = new Conformance({ http, results, surfaces, keys, spends })
  const channels = [...surfaces.values()].flatMap((surface) => surface.channels)
  refuseUnknown(only, [...run.operations, ...channels])
  const operations = run.operations.filter(({ id }) => isChosen(id))
  for (const { id, method, path } of operations) results.add('operation', id, `${method} ${path}`, checks.operation)
  const live = new Fixtures(run, keys.key)
  const simulated = new Fixtures(run, keys.testKey ?? keys.key)
  try {
    for (const [name, , text] of released)
      if (isChosen(name)) await checkDocument(run, name, JSON.parse(text) as Document)
    for (const operation of operations)
      await checkOperation({ run, operation, fixtures: run.usesTestKey(operation) ? simulated : live })
    for (const channel of channels.filter(({ id }) => isChosen(id)))
      await checkChannel({ run, fixtures: live, channel })
  } finally {
    await live.removeAll()
    await simulated.removeAll()
  }
  return results.report()
}

function refuseUnknown(only: readonly string[], targets: readonly { id: string }[]): void {
  const names = new Set([...targets.map(({ id }) => id), ...released.map(([name]) => name)])
  const unknown = only.find((name) => !names.has(name))
  if (unknown !== undefined) throw new UnknownName(`there is no operation, channel or document ${unknown}`)
}

async function checkChannel(given: Listen): Promise<void> {
  const { run, channel } = given
  run.results.add('channel', channel.id, channel.address, checks.channel)
  for (const { number, listen } of channelChecks)
    run.results.record(channel.id, number, await unlessMissing(listen(given)))
}

async function checkOperation(given: Probe): Promise<void> {
  const { run, operation } = given
  const reason = await mootReason(given)
  for (const { number, probe } of operationChecks) {
    const isMoot = reason !== null && !alwaysChecked.has(number)
    const found = isMoot ? inapplicable(reason) : await unlessMissing(probe(given))
    run.results.record(operation.id, number, found)
  }
}

/** A removed operation still asks for a key, and announces its removal. */
const alwaysChecked = new Set([22, 23, 61, 62])

/** If a fixture cannot be made, the check is not applicable. */
async function unlessMissing(check: Promise<Found>): Promise<Found> {
  try {
    return await check
  } catch (error) {
    if (error instanceof Missing) return inapplicable(error.message)
    throw error
  }
}

async function checkDocument(run: Conformance, name: string, release: Document): Promise<void> {
  const surface = run.surfaces.get(name)
  if (surface === undefined) return
  for (const { number, inspect } of documentChecks)
    run.results.record(name, number, await inspect(run, surface, release))
}

async function readSurfaces(http: Http, results: Results): Promise<Map<string, Surface>> {
  const surfaces = new Map<string, Surface>()
  let errors: Readonly<Record<string, ErrorRow>> = {}
  for (const [name, path] of released) {
    const { status, headers, body } = await http.send({ method: 'GET', path, headers: {} })
    const type = headers['content-type'] ?? 'no type'
    const document = status === 200 ? parsed(body.toString()) : null
    const fault = status !== 200 ? `answered ${status}` : /^application\/json/.test(type) ? null : `the type is ${type}`
    if (document === null || fault !== null) results.record(name, 1, [fault ?? 'the document is not JSON'])
    if (document === null) continue
    // The compatible surface has the codes of the router, and its document comes after it.
    errors = document['x-error-codes'] ?? errors
    surfaces.set(name, surfaceOf(name, document, errors))
  }
  if (surfaces.size === 0) throw new NoAnswer(`${http.url} serves no document`)
  return surfaces
}

function parsed(text: string): Document | null {
  try {
    return JSON.parse(text) as Document
  } catch {
    return null
  }
}
