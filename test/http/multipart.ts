import { createHash } from 'node:crypto'

export function sha256(...chunks: (Uint8Array | string)[]): string {
  const hash = createHash('sha256')
  for (const chunk of chunks) hash.update(chunk)
  return hash.digest('hex')
}

export type PartText = { name?: string; file?: string; type?: string; body: string | Buffer }

export function multipart(boundary: string, ...parts: PartText[]): Buffer {
  const pieces = parts.flatMap(({ name, file, type, body }) => [
    `--${boundary}\r\n`,
    name === undefined
      ? ''
      : `Content-Disposition: form-data; name="${name}"${file === undefined ? '' : `; filename="${file}"`}\r\n`,
    type === undefined ? '' : `Content-Type: ${type}\r\n`,
    '\r\n',
    body,
    '\r\n',
  ])
  return Buffer.concat([...pieces, `--${boundary}--\r\n`].map((piece) => Buffer.from(piece)))
}

export async function send(url: string, body: Buffer | string, contentType = 'multipart/form-data; boundary=b') {
  const response = await fetch(url, { method: 'POST', body, headers: { 'content-type': contentType } })
  return {
    status: response.status,
    body: (await response.json()) as Record<string, unknown>,
    headers: response.headers,
  }
}
