/** An API with one operation for each way to send a body. */
import { jsonBody, operation, validator } from './harness.ts'

const partsSchema = { type: 'object', additionalProperties: false, properties: { language: { type: 'string' } } }
const upload = {
  required: true,
  types: ['multipart/form-data'],
  parts: [
    { name: 'request', kind: 'json' as const, required: true },
    { name: 'audio', kind: 'bytes' as const, required: true },
  ],
  partsOrdered: true,
  partsOpen: false,
  limit: 'audio' as const,
}
const loose = {
  ...upload,
  partsOrdered: false,
  parts: [
    { name: 'audio', kind: 'bytes' as const, required: true },
    { name: 'request', kind: 'json' as const, required: false },
  ],
}
const form = {
  ...upload,
  partsOrdered: false,
  partsOpen: true,
  parts: [
    { name: 'audio', kind: 'bytes' as const, required: true },
    { name: 'model', kind: 'text' as const, required: true },
    { name: 'format', kind: 'text' as const, required: false },
    { name: 'times[]', kind: 'texts' as const, required: false },
  ],
}
const formSchema = {
  type: 'object',
  properties: {
    model: { type: 'string', minLength: 1 },
    format: { enum: ['json', 'text'], default: 'json' },
    'times[]': { type: 'array', maxItems: 2, items: { enum: ['word', 'segment'] } },
  },
}

export const operations = [
  operation('form', 'post', '/v1/form', { body: form, validateBody: validator(formSchema) }),
  operation('sound', 'post', '/v1/sound', { body: { ...jsonBody, types: ['audio/*'], limit: 'audio' } }),
  operation('anything', 'post', '/v1/anything', { body: { ...jsonBody, types: ['*/*'], limit: 'audio' } }),
  operation('upload', 'post', '/v1/upload', { body: upload, validateBody: validator(partsSchema) }),
  operation('loose', 'post', '/v1/loose', { body: loose }),
  operation('bytes', 'post', '/v1/bytes', {
    body: { ...jsonBody, types: ['application/octet-stream', 'application/json'], limit: 'audio' },
  }),
  operation('json', 'post', '/v1/json', { body: jsonBody }),
  operation('optional', 'post', '/v1/optional', { body: { ...jsonBody, required: false } }),
  operation('hold', 'post', '/v1/hold', { body: { ...jsonBody, types: ['application/octet-stream'], limit: 'audio' } }),
]
