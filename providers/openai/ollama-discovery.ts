/**
 * Finds an Ollama server on this machine. The request is sent at the start without waiting: until the response arrives,
 * the provider has no models.
 */
import { get } from 'node:http'
import type { Provider } from '../../domain/ports/provider.ts'

const probeMs = 300
const answerBytesMax = 1024 * 1024

/**
 * Returns a provider without models. When Ollama answers, `appear` creates a provider for the installed models. The
 * returned provider is then changed in place: it gets all fields from the created provider.
 */
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

/**
 * Requests the model list, and returns a function to cancel the request. Uses node:http instead of the connection pool,
 * so the pool's code is not loaded on a machine without Ollama.
 */
function listModels(url: string, report: (ids: string[]) => void): () => void {
  const request = get(url, { signal: AbortSignal.timeout(probeMs), agent: false }, (response) => {
    let text = ''
    response.setEncoding('utf8')
    response.on('data', (chunk: string) => {
      text += chunk
      if (text.length > answerBytesMax) request.destroy()
    })
    response.on('end', () => report(response.statusCode === 200 ? modelIds(text) : []))
    response.on('error', ignore)
  })
  request.on('error', ignore)
  return () => request.destroy()
}

/** Usually no Ollama runs, so errors are ignored. */
const ignore = () => {}

function modelIds(text: string): string[] {
  try {
    const { data } = JSON.parse(text) as { data?: { id?: unknown }[] }
    const ids = (data ?? []).map(({ id }) => id)
    // The list also holds embedding models. They generate no text, so they are left out.
    return ids.filter((id): id is string => typeof id === 'string' && !id.includes('embed'))
  } catch {
    return []
  }
}
