/** The contract's figures on text and rich messages, written down a second time, like in contract-figures.test.ts. */
import t from 'tap'
import { platformContract } from '../../generated/platform/contract.ts'
import { errorCodes } from '../../generated/platform/errors.ts'
import { boundsOf } from './bounds.ts'

const e164 = '^\\+[1-9]\\d{6,14}$'
const email = '^[^@\\s\\x00]+@[^@\\s\\x00]+$'
const visible = '^[^\\x00]*[^\\s\\x00][^\\x00]*$'
const keywords = '1…255, ^[^\\s,\\x00][^\\x00]*$'
const country = '^[A-Z]{2}$'
const entityType = 'PRIVATE_PROFIT|PUBLIC_PROFIT|NON_PROFIT|SOLE_PROPRIETOR|GOVERNMENT'
const events = 'rmsg.received|rmsg.reaction_received|rmsg.sent|rmsg.delivered|rmsg.delivery_failed'
const tags = { tags: '…20', 'tags{name}': '1…64', 'tags{}': '…256' }
const message = { to: e164, text: '1…18996', ...tags }
const sent = {
  attemptedChannel: 'rmsg',
  channel: 'rmsg|sms|rcs',
  status: 'registered|pending|queued|accepted|sent|delivered|declined|error',
}
const useCase = [
  '2FA|ACCOUNT_NOTIFICATION|CUSTOMER_CARE|DELIVERY_NOTIFICATION|FRAUD_ALERT|HIGHER_EDUCATION|LOW_VOLUME|MARKETING|MIXED',
  'POLLING_VOTING|PUBLIC_SERVICE_ANNOUNCEMENT|SECURITY_ALERT|CHARITY|EMERGENCY|POLITICAL|SOLE_PROPRIETOR',
].join('|')
const assignment = 'PENDING_ASSIGNMENT|ASSIGNED|FAILED_ASSIGNMENT|PENDING_UNASSIGNMENT|FAILED_UNASSIGNMENT'
const vettingClass = 'STANDARD|ENHANCED|POLITICAL'
const submitted = `1…2000, ${visible}`

const figures: Record<string, Record<string, string>> = {
  NewNumberMessage: message,
  SentMessage: sent,
  SentNumberMessage: sent,
  NewRmsgCall: {
    to: e164,
    variables: '…64',
    'variables{name}': '^(?!system$)[A-Za-z_][A-Za-z0-9_]{0,63}$',
    'variables{}': '…4096',
    maxDurationSeconds: '30…14400',
  },
  AgentRmsg: { mode: 'dedicated|shared', phoneNumberId: '1…64' },
  RmsgNumber: { status: 'active|paused|unavailable', smsStatus: 'not_configured|pending|ready|failed' },
  RmsgEventType: { '': events },
  WantedRmsgSubscription: { url: '1…2048', ...tags, signingSecret: '8…256' },
  RmsgSubscriptionList: {
    subscriptions: '…20',
    'subscriptions[].signingSecretSource': 'organization|custom',
    'subscriptions[].eventTypes[]': events,
  },
  SmsBrandStatus: { '': 'draft|pending|verified|failed' },
  SmsIdentityStatus: { '': 'VERIFIED|UNVERIFIED|SELF_DECLARED|VETTED_VERIFIED' },
  SmsCampaignStatus: { '': 'draft|pending|active|rejected|expired' },
  SmsCampaignProfile: {
    useCase,
    description: `1…4096, ${visible}`,
    messageFlow: `1…4096, ${visible}`,
    sampleMessages: '1…5',
    'sampleMessages[]': `1…1024, ${visible}`,
    optInKeywords: keywords,
    optInMessage: `1…4096, ${visible}`,
    helpKeywords: keywords,
    helpMessage: `1…4096, ${visible}`,
    optOutKeywords: keywords,
    optOutMessage: `1…4096, ${visible}`,
  },
  SmsVettingOrder: { vettingClass },
  SmsVetting: { status: 'pending|completed|failed', vettingClass },
  SmsAssignmentOrder: { target: 'own|shared' },
  SmsNumber: { smsAssignmentStatus: assignment, assignedTo: 'own|shared' },
  NewBusinessVerification: {
    ...Object.fromEntries(
      [
        ...['legalName', 'displayName', 'registrationId', 'website', 'useCase', 'expectedUsage'],
        ...['street', 'city', 'state', 'postalCode'].map((line) => `address.${line}`),
      ].map((name) => [`businessProfile.${name}`, submitted]),
    ),
    'businessProfile.entityType': entityType,
    'businessProfile.country': country,
    'businessProfile.address.country': country,
    'authorizedRepresentative.name': submitted,
    'authorizedRepresentative.title': submitted,
    'authorizedRepresentative.email': `…2000, ${email}`,
    'authorizedRepresentative.phone': e164,
    'declaration.businessName': submitted,
    'declaration.useCase': submitted,
    attestationAccepted: 'true',
    attestationVersion: '…256',
  },
  BusinessVerificationStatus: { '': 'missing|draft|submitted|approved|rejected|revoked' },
}

t.test('the messages in the contract have the limits that this test lists', (t) => {
  for (const [name, bounds] of Object.entries(figures)) t.same(boundsOf(platformContract, name), bounds, name)
  t.end()
})

t.test('each error code of a message operation has the HTTP status that this test lists', (t) => {
  const statuses = Object.fromEntries(Object.entries(errorCodes).map(([code, { status }]) => [code, status]))
  t.match(statuses, {
    API_KEY_REQUIRED: 403,
    NOT_ENABLED_FOR_ORGANIZATION: 403,
    PHONE_NUMBER_NOT_FOUND: 404,
    RMSG_NOT_ENABLED: 409,
    DEDICATED_NUMBER_REQUIRED: 409,
    RMSG_NUMBER_UNAVAILABLE: 409,
    UNSUPPORTED_BACKEND: 422,
    MESSAGE_SEND_FAILED: 502,
    ENDPOINT_REMOVED: 410,
    SMS_10DLC_DISABLED_FOR_ORG: 403,
    BRAND_NOT_READY: 400,
    OWN_CAMPAIGN_NOT_READY: 409,
    SHARED_CAMPAIGN_UNAVAILABLE: 409,
    NO_ELIGIBLE_CAMPAIGN: 409,
    SMS_ASSIGNMENT_UNSUPPORTED_NUMBER: 400,
    CARRIER_BRAND_SUBMIT_FAILED: 502,
    CARRIER_CAMPAIGN_SUBMIT_FAILED: 502,
    CARRIER_NUMBER_ASSIGNMENT_FAILED: 502,
    CARRIER_VETTING_FAILED: 502,
  })
  for (const code of ['PROFILE_REQUIRED', 'BRAND_REQUIRED']) t.equal(statuses[code], 400, code)
  t.end()
})
