/** The registration forms of a verified business. */
export const businessProfile = {
  legalName: 'Harbor Dental LLC',
  displayName: 'Harbor Dental',
  entityType: 'PRIVATE_PROFIT',
  country: 'US',
  website: 'https://harbordental.example',
  address: { street: '1 Main Street', city: 'Boston', state: 'MA', postalCode: '02108', country: 'US' },
  useCase: 'Appointments',
  expectedUsage: '50 calls a day',
}
export const authorizedRepresentative = { name: 'Dana Reed', title: 'Owner', email: 'dana@harbordental.example' }
export const forms = { businessProfile, authorizedRepresentative, attestationAccepted: true }
