/**
 * Error messages about a SIP connection, its numbers, or a call from a number. Each message follows the field's name,
 * so that name and message form one sentence.
 */
import type { Problem } from '../../domain/records/resource-fault.ts'

export const connectionComplaints = {
  side_missing: 'is required, unless outbound is given',
  source_missing: 'is required, unless there is a username',
  login_incomplete: 'is required with a username, and not taken without one',
  login_to_register: 'is required with register, because a username is what is registered',
  outbound_missing: 'is required to check a connection, because it has the address to ask',
  sip_port_missing:
    'cannot be checked, because this server has no port for SIP: its operator sets PARLEY_SIP_PORT and PARLEY_SIP_PUBLIC_ADDRESS, and starts it again',
  range_malformed: 'is no range of addresses such as 203.0.113.0/28, or 203.0.113.5/32 for one address',
  range_too_wide:
    'is a range that strangers have addresses in: name those of the trunk, in ranges of /16 or narrower (IPv6: /32), or leave it out and set username and password, with which the trunk proves itself from any address',
  addresses_too_many:
    'has more addresses than the SIP connections of one organization may list together: name only those of the trunk, or leave it out and set username and password, with which the trunk proves itself from any address',
  host_not_public:
    'is no public address, such as sip.example.com or 203.0.113.5; the operator of this server can allow others with PARLEY_OUTBOUND_ALLOWED_SUBNETS and a restart',
  connection_name_taken: 'is the name of another SIP connection',
  password_of_other_host: 'must be sent again, because the host has changed',
  agent_missing: 'is required, because no agent answers on the number',
  number_not_imported: 'is for imported numbers only',
} as const satisfies Partial<Record<Problem['kind'], string>>

/** For each problem, the JSON Schema keyword closest to it. */
export const connectionKeywords: Readonly<Record<keyof typeof connectionComplaints, string>> = {
  side_missing: 'required',
  source_missing: 'required',
  login_incomplete: 'required',
  login_to_register: 'required',
  outbound_missing: 'required',
  sip_port_missing: 'required',
  range_malformed: 'format',
  range_too_wide: 'format',
  addresses_too_many: 'maxItems',
  host_not_public: 'format',
  connection_name_taken: 'uniqueItems',
  password_of_other_host: 'required',
  agent_missing: 'required',
  number_not_imported: 'additionalProperties',
}

export type ConnectionProblem = Extract<Problem, { kind: keyof typeof connectionComplaints }>

export function isOfConnection(problem: Problem): problem is ConnectionProblem {
  return Object.hasOwn(connectionComplaints, problem.kind)
}
