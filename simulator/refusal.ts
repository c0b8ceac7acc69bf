/** The carrier's error answers, with its codes. */
export class Refusal extends Error {
  readonly status: number
  readonly body: object

  constructor(
    status: number,
    code: string,
    title: string,
    detail: string,
    source?: { pointer: string },
    meta?: { sip_code: number },
  ) {
    super(title)
    this.status = status
    this.body = { errors: [{ code, title, detail, ...(source && { source }), ...(meta && { meta }) }] }
  }
}

export const notFound = () =>
  new Refusal(404, '10005', 'Resource not found', 'The requested resource or URL could not be found.')
export const badRequest = () =>
  new Refusal(400, '10015', 'Bad Request', 'The request failed because it was not well-formed.')
export const unauthorized = () =>
  new Refusal(
    401,
    '10009',
    'Authentication failed',
    'The required authentication headers were invalid or not included.',
  )
export const unexpected = () => new Refusal(500, '10007', 'Unexpected error', 'An unexpected error occurred.')
export const tooLarge = () => new Refusal(413, '10015', 'Bad Request', 'The body is too large.')
export const missing = (name: string) =>
  new Refusal(422, '10004', 'Missing required parameter', `The parameter ${name} is required.`, { pointer: `/${name}` })
export const invalid = (name: string, detail = `The parameter ${name} is invalid.`) =>
  new Refusal(422, '10032', 'Invalid value', detail, { pointer: `/${name}` })
export const notE164 = (name: string) =>
  new Refusal(
    422,
    '10016',
    'Phone number must be in +E.164 format',
    `The parameter ${name} must be in +E.164 format.`,
    {
      pointer: `/${name}`,
    },
  )
export const notLoopback = (name: string) =>
  new Refusal(422, '10003', 'Invalid URL', 'The simulator connects only to the machine that it runs on.', {
    pointer: `/${name}`,
  })
export const unknownCall = () =>
  new Refusal(422, '90015', 'Invalid Call Control ID', 'The call_control_id provided was not valid.')
export const endedCall = () =>
  new Refusal(422, '90018', 'Call has already ended', 'This call is no longer active and can not receive commands.')
export const wrongState = (detail: string) => new Refusal(422, '90034', 'Invalid call state', detail)
export const tooManyCalls = () =>
  new Refusal(403, '90041', 'Channel limit exceeded', 'More calls than the simulator holds at a time.')
export const refusedDial = (status: 403 | 503) =>
  status === 403
    ? new Refusal(403, '10010', 'Authorization failed', 'Calls to this destination are not permitted.')
    : new Refusal(503, '10007', 'Unexpected error', 'The service is temporarily unavailable.')

/** Makes the error answer for a declined REFER: a trunk asked a far end to make a call, and the far end declined. */
export const refusedRefer = () =>
  new Refusal(403, '10010', 'Authorization failed', 'The far end makes no calls for others.', undefined, {
    sip_code: 603,
  })

/** A refusal with a single error as its body, without a list around the error. */
export class BareRefusal extends Refusal {
  override readonly body: object

  constructor(status: number, code: string, title: string, detail: string) {
    super(status, code, title, detail)
    this.body = { code, title, detail }
  }
}

export type FieldFault = { field: string; type: string; text: string }

/** A refusal by the text message registry. The registry reports all invalid fields in a body at once. */
export class BadFields extends Refusal {
  override readonly body: object

  constructor(faults: readonly FieldFault[]) {
    super(422, '10032', 'Invalid value', '')
    this.body = { detail: faults.map(({ field, type, text }) => ({ loc: ['body', field], msg: text, type })) }
  }
}
