import type {
  BusinessVerificationDraft,
  SavedBusinessProfile,
  SavedRepresentative,
} from '../../../../generated/clients/typescript/models/platform.ts'
import { entityTypes } from '../../parts/entity-types.ts'
import { SelectField, TextField } from '../../parts/field.tsx'
import { AreaField, CheckField, FieldGroup, FieldRow } from '../../parts/form.tsx'
import type { FormValues } from '../../parts/form-values.ts'
import { PhoneField } from '../../parts/phone-field.tsx'
import { websiteOf } from '../../parts/tidy.ts'
import { TidyField } from '../../parts/tidy-field.tsx'

const addressNames = ['street', 'city', 'state', 'postalCode', 'country'] as const

const country = { pattern: '[A-Z]{2}', title: 'Two letters, such as US', maxLength: 2 }

/** Fields are named by their JSON pointers, so an error of the server stands beside its field. */
export function BusinessFields({ start = {} }: { start: SavedBusinessProfile | undefined }) {
  return (
    <>
      <FieldGroup label="The business">
        <FieldRow>
          <TextField label="Legal name" name="/businessProfile/legalName" required defaultValue={start.legalName} />
          <TextField
            label="Name that people know"
            name="/businessProfile/displayName"
            required
            defaultValue={start.displayName}
          />
          <SelectField
            label="Legal form"
            name="/businessProfile/entityType"
            choices={entityTypes}
            defaultValue={start.entityType ?? 'PRIVATE_PROFIT'}
          />
        </FieldRow>
        <FieldRow>
          <TextField
            label="Country"
            name="/businessProfile/country"
            required
            {...country}
            defaultValue={start.country ?? 'US'}
          />
          <TextField
            label="Number in the register"
            name="/businessProfile/registrationId"
            defaultValue={start.registrationId}
            placeholder="12-3456789"
            note="Such as the tax number (EIN). Optional."
          />
          <TidyField
            label="Website"
            name="/businessProfile/website"
            type="url"
            required
            defaultValue={start.website}
            placeholder="https://"
            tidy={websiteOf}
          />
        </FieldRow>
      </FieldGroup>
      <AddressFields start={start.address} />
      <FieldGroup label="The phone numbers">
        <AreaField
          label="What they are for"
          name="/businessProfile/useCase"
          required
          rows={2}
          defaultValue={start.useCase}
          placeholder="Appointments and reminders"
        />
        <AreaField
          label="How much they will be used"
          name="/businessProfile/expectedUsage"
          required
          rows={2}
          defaultValue={start.expectedUsage}
          placeholder="About 50 calls a day"
        />
      </FieldGroup>
    </>
  )
}

function AddressFields({ start = {} }: { start: SavedBusinessProfile['address'] }) {
  const text = (label: string, name: (typeof addressNames)[number]) => (
    <TextField label={label} name={`/businessProfile/address/${name}`} required defaultValue={start[name]} />
  )
  return (
    <FieldGroup label="The registered address">
      <FieldRow>
        {text('Street', 'street')}
        {text('Town', 'city')}
        {text('State or province', 'state')}
        {text('Postal code', 'postalCode')}
        <TextField
          label="Country"
          name="/businessProfile/address/country"
          required
          {...country}
          defaultValue={start.country ?? 'US'}
        />
      </FieldRow>
    </FieldGroup>
  )
}

export function RepresentativeFields({ start = {} }: { start: SavedRepresentative | undefined }) {
  return (
    <FieldGroup label="The person who may speak for the business">
      <FieldRow>
        <TextField label="Name" name="/authorizedRepresentative/name" required defaultValue={start.name} />
        <TextField label="Position" name="/authorizedRepresentative/title" required defaultValue={start.title} />
        <TextField
          label="E-mail"
          name="/authorizedRepresentative/email"
          type="email"
          required
          defaultValue={start.email}
        />
        <PhoneField label="Phone" name="/authorizedRepresentative/phone" defaultValue={start.phone} note="Optional." />
      </FieldRow>
    </FieldGroup>
  )
}

export const Attestation = ({ isAccepted }: { isAccepted: boolean }) => (
  <CheckField
    label="All of this is true, and I may speak for the business."
    name="/attestationAccepted"
    required
    defaultChecked={isAccepted}
  />
)

const profileNames = ['legalName', 'displayName', 'entityType', 'country', 'registrationId', 'website'] as const
const representativeNames = ['name', 'title', 'email', 'phone'] as const

/** Returns the filled fields. A draft may lack the others. */
export function draftOf(values: FormValues): BusinessVerificationDraft {
  const profile = '/businessProfile'
  return {
    businessProfile: {
      ...filled(values, profile, [...profileNames, 'useCase', 'expectedUsage']),
      address: filled(values, `${profile}/address`, addressNames),
    },
    authorizedRepresentative: filled(values, '/authorizedRepresentative', representativeNames),
    attestationAccepted: values.has('/attestationAccepted'),
  }
}

function filled(values: FormValues, place: string, names: readonly string[]): Record<string, string> {
  const entries = names.map((name) => [name, values.optional(`${place}/${name}`)] as const)
  return Object.fromEntries(entries.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
}
