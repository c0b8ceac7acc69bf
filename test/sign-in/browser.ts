/**
 * Acts as a browser on the console's pages: keeps cookies, and sends the headers that a browser sends from our own
 * pages.
 */
import { request } from 'node:http'

type Headers = Record<string, string>
export type Page = {
  status: number
  code: string | null
  text: string
  body: unknown
  headers: Record<string, unknown>
}

const ownPage: Headers = { 'sec-fetch-site': 'same-origin', 'user-agent': 'Firefox of a test' }

export class Browser {
  readonly #url: string
  /** The cookies by name. */
  readonly cookies = new Map<string, string>()

  constructor(url: string) {
    this.#url = url
  }

  get session(): string {
    return this.cookies.get('parley_session') ?? ''
  }

  get(path: string, headers: Headers = {}): Promise<Page> {
    return this.#ask('GET', path, null, headers)
  }

  post(path: string, body: object, headers: Headers = {}): Promise<Page> {
    return this.#ask('POST', path, JSON.stringify(body), headers)
  }

  send(method: string, path: string, body: object | null = null): Promise<Page> {
    return this.#ask(method, path, body === null ? null : JSON.stringify(body), {})
  }

  /** Sends over node:http, because fetch may not set these headers. */
  #ask(method: string, path: string, body: string | null, more: Headers): Promise<Page> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = {
      ...ownPage,
      ...(cookie && { cookie }),
      ...(body !== null && { 'content-type': 'application/json' }),
      ...more,
    }
    return new Promise((resolve, reject) => {
      const sent = request(this.#url + path, { method, headers }, (answer) => {
        let text = ''
        answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
        answer.on('end', () => {
          for (const line of answer.headers['set-cookie'] ?? []) this.#keep(line)
          const isJson = answer.headers['content-type']?.startsWith('application/json') === true
          const parsed: unknown = isJson ? JSON.parse(text) : null
          const { code = null } = (parsed ?? {}) as { code?: string }
          resolve({ status: answer.statusCode ?? 0, code, text, body: parsed, headers: answer.headers })
        })
      })
      sent.once('error', reject)
      sent.end(body ?? undefined)
    })
  }

  #keep(line: string): void {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
    if (/max-age=0/i.test(line)) this.cookies.delete(name)
    else this.cookies.set(name, value)
  }
}
