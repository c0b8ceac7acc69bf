/** Compares an answer with its status, its code and the contract. */
import { type Test } from 'tap'
import { conforms } from './oracle.ts'
import { type Answer } from './requests.ts'

export function expected(t: Test, operationId: string, answer: Answer, status: number, code: string | null) {
  conforms(t, operationId, answer)
  t.equal(answer.status, status, `${operationId} ${status}`)
  if (code !== null) t.equal(answer.json().error.code, code, `${operationId} ${code}`)
  t.match(answer.headers.get('service-request-id'), /^req_/)
  t.equal(answer.headers.get('service-region'), 'local')
  t.equal(answer.headers.get('ratelimit-policy'), '"relay-ip";q=2000;w=300')
  t.match(answer.headers.get('ratelimit'), /^"relay-ip";r=\d+;t=\d+$/)
  for (const name of ['deprecation', 'sunset']) t.notOk(answer.headers.has(name), `no ${name}`)
}
