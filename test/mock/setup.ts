/** A mock server for a test file, and requests from the contract's examples. */
import { randomUUID } from 'node:crypto'
import type { Test } from 'tap'
import { type ClientOptions, createCompatClient } from '../../generated/clients/typescript/compat.ts'
import { createPlatformClient } from '../../generated/clients/typescript/platform.ts'
import { createRouterClient } from '../../generated/clients/typescript/router.ts'
import { startMock } from '../../mock/server.ts'
import { type Contract, type Operation, readContract } from '../examples/contract.ts'
import { judgedFetch } from '../oracle.ts'

export const key = 'any-key'
export type Envelope = { error: { code: string; message: string; param?: string } }

type Method = (call: object) => Promise<{ status: number; type: string; headers: Headers; body: unknown }>
export type Surface = { name: string; contract: Contract; client: Record<string, Method> }

/** Starts a mock server for one test file. */
export async function serve(t: Test) {
  const mock = await startMock({ host: '127.0.0.1', port: 0 })
  t.teardown(() => mock.close())
  const options: ClientOptions = {
    baseUrl: mock.url,
    apiKey: key,
    // Throws if an answer is JSON that breaks the contract.
    fetch: (url, init) => judgedFetch(url as string, init),
  }
  /** The generated clients for the three HTTP APIs. */
  const surfaces: Surface[] = [
    surface('router', createRouterClient(options)),
    surface('compat', createCompatClient(options)),
    surface('platform', createPlatformClient(options)),
  ]
  /** Sends a request without the generated client. */
  const request = (path: string, init: RequestInit = {}): Promise<Response> => {
    const headers = { authorization: `Bearer ${key}`, 'idempotency-key': randomUUID(), ...(init.headers as object) }
    return judgedFetch(mock.url + path, { ...init, headers })
  }
  return { url: mock.url, surfaces, request }
}

function surface(name: string, client: object): Surface {
  return { name, contract: readContract(`${name}.openapi.yaml`), client: client as Record<string, Method> }
}

/** Returns the operation's path with its example parameters. */
export function pathOf({ path, parameters }: Operation): string {
  const values = parametersIn(parameters, 'path')
  return path.replaceAll(/\{(\w+)\}/g, (_match, name: string) => encodeURIComponent(String(values[name])))
}

/** Returns a call for the generated client, with the example's body and the example parameters. */
export function callOf({ parameters, type }: Operation, example: unknown): object {
  return {
    path: parametersIn(parameters, 'path'),
    query: parametersIn(parameters, 'query'),
    ...(example !== undefined && { body: type === 'application/json' ? example : withBytes(example) }),
    headers: type === '*/*' || type === 'application/octet-stream' ? { 'Content-Type': 'audio/wav' } : {},
    idempotencyKey: randomUUID(),
  }
}

function parametersIn(parameters: Operation['parameters'], place: string): Record<string, unknown> {
  const found = parameters.filter((parameter) => parameter.in === place && parameter.example !== undefined)
  return Object.fromEntries(found.map(({ name, example }) => [name, example]))
}

/** In examples a recording is a string that begins with RIFF. */
function withBytes(example: unknown): unknown {
  if (isRecording(example)) return Buffer.from(example)
  const parts = Object.entries(example as object).map(([name, value]) => [
    name,
    isRecording(value) ? Buffer.from(value) : (value as unknown),
  ])
  return Object.fromEntries(parts) as object
}

const isRecording = (value: unknown): value is string => typeof value === 'string' && value.startsWith('RIFF')
