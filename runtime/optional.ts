/**
 * Loads dependencies unused by most deployments or most commands. Each costs start-up time and memory, so it is
 * imported when it is first needed.
 */
import { createRequire } from 'node:module'
import type { Resampler, ResamplerShape } from '../audio/resample.ts'
import { loadUndiciRepaired } from './repaired-undici.ts'

/** Loads and creates a resampler. The module has 2 MB of text and costs 10 MB of memory and 30 ms. */
export async function createResampler(shape: ResamplerShape): Promise<Resampler> {
  const { Resampler } = await import('../audio/resample.ts')
  return Resampler.create(shape)
}

/** The package has 70 files. It costs 4 MB memory and 20 ms. Only settings files and structured lists need it. */
export async function loadYaml() {
  return import('yaml')
}

const require = createRequire(import.meta.url)

export const s3Packages = ['@aws-sdk/client-s3', '@aws-sdk/s3-request-presigner']
export const redisPackages = ['@redis/client']
export const liveKitPackages = ['@livekit/rtc-node', 'livekit-server-sdk']

/** Returns the packages not installed. Loads nothing. */
export function missingPackages(names: readonly string[]): string[] {
  return names.filter((name) => {
    try {
      require.resolve(name)
      return false
    } catch (error) {
      return error instanceof Error && 'code' in error && error.code === 'MODULE_NOT_FOUND'
    }
  })
}

/** The package costs 14 MB memory and 40 ms. Only agents' templates need it. */
export function loadLiquid() {
  return require('liquidjs') as typeof import('liquidjs')
}

/** The package costs 4 MB memory and 40 ms. Only tools' schemas need it: all other schemas are compiled beforehand. */
export function loadAjv() {
  return require('ajv/dist/2020.js') as typeof import('ajv/dist/2020.js')
}

/** Loads the HTTP client. It has 100 files and costs 100 ms. */
export function loadUndici() {
  return loadUndiciRepaired(require)
}

/** Loads the numbering plans, which cost 40 ms. */
export function loadPhoneNumbers() {
  return require('libphonenumber-js/max') as typeof import('libphonenumber-js/max')
}

/** Loads packages needed by nearly every server, because loading them later would delay live calls. */
export function loadForServer(): void {
  loadUndici()
  loadPhoneNumbers()
}

/** Loads the interpreter for JSON Schemas. It only checks tools' arguments. */
export function loadSchemaInterpreter() {
  return require('@cfworker/json-schema') as typeof import('@cfworker/json-schema')
}

export async function loadTracingSdk() {
  const [
    { NodeTracerProvider, BatchSpanProcessor, RandomIdGenerator },
    { OTLPTraceExporter },
    { detectResources, envDetector, resourceFromAttributes },
  ] = await Promise.all([
    import('@opentelemetry/sdk-trace-node'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
  ])
  return {
    NodeTracerProvider,
    BatchSpanProcessor,
    RandomIdGenerator,
    OTLPTraceExporter,
    detectResources,
    envDetector,
    resourceFromAttributes,
  }
}

/**
 * Loads the client for S3 buckets. The packages have 22 MB. Only a server with a bucket for recordings needs them, and
 * they may be missing.
 */
export async function loadS3() {
  const [{ DeleteObjectCommand, GetObjectCommand, HeadObjectCommand, PutObjectCommand, S3Client }, { getSignedUrl }] =
    await Promise.all([import('@aws-sdk/client-s3'), import('@aws-sdk/s3-request-presigner')])
  return { DeleteObjectCommand, GetObjectCommand, HeadObjectCommand, PutObjectCommand, S3Client, getSignedUrl }
}

/**
 * Loads the client for Redis. The package has 12 MB. Only a server that shares limits by Redis needs it, and it may be
 * missing.
 */
export async function loadRedis() {
  const { createClient, ErrorReply } = await import('@redis/client')
  return { createClient, ErrorReply }
}

/**
 * Loads the packages for LiveKit. They have 36 MB and are optional. Only a server with LiveKit rooms needs them.
 * Outside production, one package prints each new connection.
 */
export async function loadLiveKit() {
  const before = process.env['NODE_ENV']
  process.env['NODE_ENV'] = 'production'
  try {
    const [rtc, server] = await Promise.all([import('@livekit/rtc-node'), import('livekit-server-sdk')])
    return { rtc, server }
  } finally {
    if (before === undefined) delete process.env['NODE_ENV']
    else process.env['NODE_ENV'] = before
  }
}

/** Loads the binary for argon2. Null if it does not load on this machine. */
export async function loadArgon2() {
  try {
    const { hash, verify } = await import('@node-rs/argon2')
    return { hash, verify }
  } catch {
    return null
  }
}
