/** Finds an Ollama that runs on this machine. The question goes out at start, nothing waits for the answer: the provider is empty until it comes. */
import { get } from 'node:http'
import type { Provider } from '../../domain/ports/provider.ts'

const probeMs = 300
const answerBytesMax = 1024 * 1024

/** `appear` makes the real provider out of the models that are installed; the one returned takes over its rows and adapters. */
export function discoverOllama(
  baseUrl: string,
  appear: (models: { llm: readonly string[] }) => Promise<Provider>,
): Provider {
  const provider: Provider = {
    id: 'ollama',
    models: [],
    ports: {},
    unavailable: () => 'not_running',
    close: () => Promise.resolve(),
  }
  const stop = listModels(`${baseUrl}/models`, (llm) => {
    if (llm.length > 0) void appear({ llm }).then((real) => Object.assign(provider, real))
  })
  provider.close = () => {
    stop()
    return Promise.resolve()
  }
  return provider
}

/** node:http and not the pool: on a machine without Ollama nothing more is loaded for the question. Answers how to call it off. */
function listModels(url: string, found: (ids: string[]) => void): () => void {
  const request = get(url, { signal: AbortSignal.timeout(probeMs), agent: false }, (response) => {
    let text = ''
    response.setEncoding('utf8')
    response.on('data', (chunk: string) => {
      text += chunk
      if (text.length > answerBytesMax) request.destroy()
    })
    response.on('end', () => found(response.statusCode === 200 ? modelIds(text) : []))
    response.on('error', ignore)
  })
  request.on('error', ignore)
  return () => request.destroy()
}

/** Not running is the usual case. */
const ignore = () => {}

function modelIds(text: string): string[] {
  try {
    const { data } = JSON.parse(text) as { data?: { id?: unknown }[] }
    const ids = (data ?? []).map(({ id }) => id)
    // Embedding models are listed too and cannot talk.
    return ids.filter((id): id is string => typeof id === 'string' && !id.includes('embed'))
  } catch {
    return []
  }
}
