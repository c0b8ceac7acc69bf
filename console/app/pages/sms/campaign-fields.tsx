import type { SmsCampaignProfile, SmsUseCase } from '../../../../generated/clients/typescript/models/platform.ts'
import { SelectField, TextField } from '../../parts/field.tsx'
import { AreaField, CheckField, FieldRow } from '../../parts/form.tsx'
import type { FormValues } from '../../parts/form-values.ts'
import { words } from '../../parts/formats.ts'

const useCases: readonly SmsUseCase[] = [
  ...(['CUSTOMER_CARE', 'ACCOUNT_NOTIFICATION', 'DELIVERY_NOTIFICATION', '2FA', 'MIXED', 'LOW_VOLUME'] as const),
  ...(['MARKETING', 'FRAUD_ALERT', 'SECURITY_ALERT', 'POLLING_VOTING', 'HIGHER_EDUCATION'] as const),
  ...(['PUBLIC_SERVICE_ANNOUNCEMENT', 'CHARITY', 'EMERGENCY', 'POLITICAL', 'SOLE_PROPRIETOR'] as const),
]

export function CampaignFields({ profile }: { profile: SmsCampaignProfile | undefined }) {
  return (
    <>
      <SelectField
        label="Purpose"
        name="useCase"
        choices={useCases.map((value) => ({ value, label: words(value).toLowerCase() }))}
        defaultValue={profile?.useCase ?? 'CUSTOMER_CARE'}
      />
      <AreaField
        label="What the messages are for"
        name="description"
        required
        maxLength={4096}
        defaultValue={profile?.description}
      />
      <AreaField
        label="How people agree to get them"
        name="messageFlow"
        required
        maxLength={4096}
        defaultValue={profile?.messageFlow}
        note="The registry refuses a campaign that does not say this exactly."
      />
      <AreaField
        label="Examples"
        name="sampleMessages"
        required
        defaultValue={profile?.sampleMessages.join('\n')}
        note="One message a line, at most five."
      />
      <FieldRow>
        <TextField
          label="Answer to HELP"
          name="helpMessage"
          required
          maxLength={4096}
          defaultValue={profile?.helpMessage}
        />
        <TextField
          label="Answer to STOP"
          name="optOutMessage"
          required
          maxLength={4096}
          defaultValue={profile?.optOutMessage}
        />
        <TextField label="Answer to START" name="optInMessage" maxLength={4096} defaultValue={profile?.optInMessage} />
      </FieldRow>
      <CheckField label="The messages have links" name="embeddedLink" defaultChecked={profile?.embeddedLink} />
      <CheckField
        label="The messages have phone numbers"
        name="embeddedPhone"
        defaultChecked={profile?.embeddedPhone}
      />
    </>
  )
}

/** Keywords stay as they were saved, because the page has no fields for keywords. */
export function campaignOf(values: FormValues, saved?: SmsCampaignProfile): SmsCampaignProfile {
  const optInMessage = values.optional('optInMessage')
  const samples = values.text('sampleMessages').split('\n')
  return {
    ...(saved?.optInKeywords !== undefined && { optInKeywords: saved.optInKeywords }),
    ...(saved?.optOutKeywords !== undefined && { optOutKeywords: saved.optOutKeywords }),
    ...(saved?.helpKeywords !== undefined && { helpKeywords: saved.helpKeywords }),
    useCase: values.text('useCase') as SmsUseCase,
    description: values.text('description'),
    messageFlow: values.text('messageFlow'),
    sampleMessages: samples.map((line) => line.trim()).filter((line) => line !== ''),
    helpMessage: values.text('helpMessage'),
    optOutMessage: values.text('optOutMessage'),
    ...(optInMessage !== undefined && { optInMessage }),
    embeddedLink: values.has('embeddedLink'),
    embeddedPhone: values.has('embeddedPhone'),
  }
}
