/** The messages for a requirement that no model can meet, with hints how to change the requirement. */
import type { FaultOf, NarrowingFilter } from '../../domain/records/fault.ts'
import type { Places, Row } from './row.ts'

type Unsupported = 'voice_unknown' | 'language_unsupported' | 'encoding_unsupported' | 'capability_missing'

/** Names the models left to choose from after the client's filter. */
function left({ pinned, stage, by }: FaultOf<Unsupported>): string {
  if (pinned) return 'the pinned model'
  return by ? `any ${stage} model that ${leavers[by]}` : `any ${stage} model here`
}

const leavers: Record<NarrowingFilter, string> = {
  not_allowed: 'the allowed providers leave',
  denied: 'the denied providers leave',
  test_key: 'a test key reaches',
  key_policy: 'the policy of this key leaves',
}

const widenings: Record<NarrowingFilter, string> = {
  not_allowed: 'allow a provider that supports it',
  denied: 'deny fewer providers',
  test_key: 'use a live key',
  key_policy: 'use a key with another policy',
}

/** Makes the row for a requirement that removed the last candidate. */
export function unsupported<Kind extends FaultOf<Unsupported>>(
  feature: (data: Kind) => string,
  param: (places: Places, data: Kind) => string | null,
  more: (data: Kind) => string = () => '',
): Row<Kind> {
  return {
    code: 'capability_unsupported',
    message: (data) => `${feature(data)} is not supported by ${left(data)}.${more(data)}`,
    hint: (data) => {
      const widening = data.pinned ? 'pin another model' : data.by && widenings[data.by]
      const ways = [...(isWayOfWorking(data) ? [] : ['leave it out']), ...(widening ? [widening] : [])].join(', or ')
      const listed = 'GET /v1/models shows what each model can do.'
      return ways === '' ? listed : `${ways.charAt(0).toUpperCase()}${ways.slice(1)}; ${listed}`
    },
    param,
  }
}

/**
 * Returns true if the requirement is streaming or batch. The operation itself needs it, so a client cannot leave it
 * out.
 */
function isWayOfWorking(data: FaultOf<Unsupported>): boolean {
  return data.kind === 'capability_missing' && (data.capability === 'streaming' || data.capability === 'batch')
}

export function voiceList({ voices, more }: FaultOf<'voice_unknown'>): string {
  if (voices.length === 0) return ''
  return ` Known voices: ${voices.join(', ')}${more > 0 ? ` and ${more} more` : ''}.`
}
