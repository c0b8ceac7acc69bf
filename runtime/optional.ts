/**
 * Dependencies that most deployments never load. Each costs start-up time and memory, so it is imported where it is asked for and nowhere else.
 */
import type { Resampler, ResamplerShape } from '../audio/resample.ts'

/** Two megabytes of text, 10 MB of memory and 30 ms. */
export async function createResampler(shape: ResamplerShape): Promise<Resampler> {
  const { Resampler } = await import('../audio/resample.ts')
  return Resampler.create(shape)
}

/** Seventy files, 4 MB of memory and 20 ms, and no more than a file of settings needs it. */
export async function loadYaml() {
  return import('yaml')
}

export async function loadTracingSdk() {
  const [{ NodeTracerProvider, BatchSpanProcessor }, { OTLPTraceExporter }, { resourceFromAttributes }] =
    await Promise.all([
      import('@opentelemetry/sdk-trace-node'),
      import('@opentelemetry/exporter-trace-otlp-http'),
      import('@opentelemetry/resources'),
    ])
  return { NodeTracerProvider, BatchSpanProcessor, OTLPTraceExporter, resourceFromAttributes }
}
