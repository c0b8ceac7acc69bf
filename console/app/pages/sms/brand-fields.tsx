import type { BusinessEntityType, SmsBrandProfile } from '../../../../generated/clients/typescript/models/platform.ts'
import { entityTypes } from '../../parts/entity-types.ts'
import { SelectField, TextField } from '../../parts/field.tsx'
import { FieldGroup, FieldRow } from '../../parts/form.tsx'
import type { FormValues } from '../../parts/form-values.ts'
import { words } from '../../parts/formats.ts'
import { PhoneField } from '../../parts/phone-field.tsx'
import { websiteOf } from '../../parts/tidy.ts'
import { TidyField } from '../../parts/tidy-field.tsx'

type Vertical = SmsBrandProfile['vertical']

const verticals: readonly Vertical[] = [
  ...(['AGRICULTURE', 'COMMUNICATION', 'CONSTRUCTION', 'EDUCATION', 'ENERGY', 'ENTERTAINMENT'] as const),
  ...(['FINANCIAL', 'GAMBLING', 'GOVERNMENT', 'HEALTHCARE', 'HOSPITALITY', 'INSURANCE'] as const),
  ...(['MANUFACTURING', 'NGO', 'REAL_ESTATE', 'RETAIL', 'TECHNOLOGY'] as const),
]

export function BrandFields({ profile }: { profile: SmsBrandProfile | undefined }) {
  const contact = profile?.authorizedContact
  return (
    <>
      <FieldRow>
        <TextField label="Legal name" name="legalName" required defaultValue={profile?.legalName} />
        <TextField label="Name that people know" name="displayName" required defaultValue={profile?.displayName} />
        <TextField
          label="Tax number (EIN)"
          name="ein"
          defaultValue={profile?.ein}
          maxLength={20}
          placeholder="12-3456789"
          note="A sole proprietor needs none."
        />
      </FieldRow>
      <FieldRow>
        <SelectField
          label="Legal form"
          name="entityType"
          choices={entityTypes}
          defaultValue={profile?.entityType ?? 'PRIVATE_PROFIT'}
        />
        <SelectField
          label="Industry"
          name="vertical"
          choices={verticals.map((value) => ({ value, label: words(value).toLowerCase() }))}
          defaultValue={profile?.vertical ?? 'RETAIL'}
        />
        <TidyField
          label="Website"
          name="website"
          type="url"
          required
          defaultValue={profile?.website}
          placeholder="https://"
          tidy={websiteOf}
        />
      </FieldRow>
      <AddressFields profile={profile} />
      <FieldGroup label="Help for people who get the messages">
        <FieldRow>
          <TextField label="E-mail" name="supportEmail" type="email" required defaultValue={profile?.supportEmail} />
          <PhoneField label="Phone" name="supportPhone" required defaultValue={profile?.supportPhone} />
        </FieldRow>
      </FieldGroup>
      <FieldGroup label="A person whom the registry may ask">
        <FieldRow>
          <TextField label="First name" name="firstName" required defaultValue={contact?.firstName} />
          <TextField label="Last name" name="lastName" required defaultValue={contact?.lastName} />
          <TextField label="E-mail" name="email" type="email" required defaultValue={contact?.email} />
          <PhoneField label="Phone" name="phone" required defaultValue={contact?.phone} />
        </FieldRow>
      </FieldGroup>
    </>
  )
}

function AddressFields({ profile }: { profile: SmsBrandProfile | undefined }) {
  return (
    <FieldGroup label="Address">
      <FieldRow>
        <TextField label="Street" name="street" required defaultValue={profile?.street} />
        <TextField label="Town" name="city" required defaultValue={profile?.city} />
        <TextField label="State" name="state" required maxLength={20} defaultValue={profile?.state} />
        <TextField label="Postal code" name="postalCode" required maxLength={10} defaultValue={profile?.postalCode} />
        <TextField
          label="Country"
          name="country"
          required
          pattern="[A-Z]{2}"
          title="Two letters, such as US"
          defaultValue={profile?.country ?? 'US'}
        />
      </FieldRow>
    </FieldGroup>
  )
}

export function brandOf(values: FormValues): SmsBrandProfile {
  const ein = values.optional('ein')
  const text = (name: string) => values.text(name)
  return {
    ...{ legalName: text('legalName'), displayName: text('displayName'), ...(ein !== undefined && { ein }) },
    entityType: text('entityType') as BusinessEntityType,
    vertical: text('vertical') as Vertical,
    ...{ website: text('website'), street: text('street'), city: text('city'), state: text('state') },
    ...{ postalCode: text('postalCode'), country: text('country') },
    ...{ supportEmail: text('supportEmail'), supportPhone: text('supportPhone') },
    authorizedContact: {
      ...{ firstName: text('firstName'), lastName: text('lastName'), email: text('email'), phone: text('phone') },
    },
  }
}
