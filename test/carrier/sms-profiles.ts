/** A business and a campaign, as they are registered for text messages. */
import type { BrandProfile, CampaignProfile } from '../../domain/ports/sms-registry.ts'

export const brandProfile: BrandProfile = {
  legalName: 'Spoke and Wheel LLC',
  displayName: 'Spoke & Wheel',
  entityType: 'PRIVATE_PROFIT',
  vertical: 'RETAIL',
  ein: '12-3456789',
  website: 'https://spoke.example.com',
  country: 'US',
  street: '1 Main Street',
  city: 'Springfield',
  state: 'IL',
  postalCode: '62701',
  supportEmail: 'help@spoke.example.com',
  supportPhone: '+12175550100',
  authorizedContact: { firstName: 'Ada', lastName: 'Wheel', email: 'ada@spoke.example.com', phone: '+12175550101' },
}

export const campaignProfile: CampaignProfile = {
  useCase: 'CUSTOMER_CARE',
  description: 'Tells customers that their bicycle is ready.',
  messageFlow: 'Customers leave their number at the counter and tick a box.',
  sampleMessages: ['Your bicycle is ready.', 'We close at six today.'],
  optInKeywords: 'START, YES',
  optInMessage: 'You will now get messages from Spoke & Wheel.',
  helpKeywords: 'HELP',
  helpMessage: 'Call +12175550100 for help.',
  optOutKeywords: 'STOP',
  optOutMessage: 'You get no more messages.',
  embeddedLink: false,
  embeddedPhone: true,
}
