/**
 * Dependencies that most deployments or most commands never load. Each costs start-up time and memory, so it is imported
 * when it is first needed.
 */
import { createRequire } from 'node:module'
import type { Resampler, ResamplerShape } from '../audio/resample.ts'

/** The module has 2 MB of text and costs 10 MB of memory and 30 ms. */
export async function createResampler(shape: ResamplerShape): Promise<Resampler> {
  const { Resampler } = await import('../audio/resample.ts')
  return Resampler.create(shape)
}

/** The package has 70 files and costs 4 MB of memory and 20 ms. Only a file of settings and structured lists need it. */
export async function loadYaml() {
  return import('yaml')
}

const require = createRequire(import.meta.url)

export const s3Packages = ['@aws-sdk/client-s3', '@aws-sdk/s3-request-presigner']
export const redisPackages = ['@redis/client']
export const liveKitPackages = ['@livekit/rtc-node', 'livekit-server-sdk']

/** Those of these packages that are not installed. Loads nothing. */
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

/** The package costs 14 MB of memory and 40 ms. Only the templates of agents need it. */
export function loadLiquid() {
  return require('liquidjs') as typeof import('liquidjs')
}

/** The package costs 4 MB of memory and 40 ms. Only the schemas of tools need it: all others are compiled beforehand. */
export function loadAjv() {
  return require('ajv/dist/2020.js') as typeof import('ajv/dist/2020.js')
}

/** The client of HTTP has 100 files and costs 100 ms. */
export function loadUndici() {
  return require('undici') as typeof import('undici')
}

/** The numbering plans cost 40 ms. */
export function loadPhoneNumbers() {
  return require('libphonenumber-js/max') as typeof import('libphonenumber-js/max')
}

/** Loads what nearly every server needs, because to load it later would hold up the calls that are going on by then. */
export function loadForServer(): void {
  loadUndici()
  loadPhoneNumbers()
}

/** Only the arguments of tools are checked with it. */
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

/** The packages have 22 MB. Only a server with a bucket for recordings needs them, and they may be missing. */
export async function loadS3() {
  const [{ DeleteObjectCommand, GetObjectCommand, HeadObjectCommand, PutObjectCommand, S3Client }, { getSignedUrl }] =
    await Promise.all([import('@aws-sdk/client-s3'), import('@aws-sdk/s3-request-presigner')])
  return { DeleteObjectCommand, GetObjectCommand, HeadObjectCommand, PutObjectCommand, S3Client, getSignedUrl }
}

/** The package has 12 MB. Only a server of several that share limits by Redis needs it, and it may be missing. */
export async function loadRedis() {
  const { createClient, ErrorReply } = await import('@redis/client')
  return { createClient, ErrorReply }
}

/**
 * The packages are 36 MB and optional. Only a server with LiveKit rooms needs them. One of them writes each connection
 * that it makes to the output, unless it is loaded in production.
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
