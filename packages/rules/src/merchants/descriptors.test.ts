import { expect, test } from 'vitest';
import { isDescriptorOf } from './descriptors.ts';

test.each([
  'Hetzner Online',
  'HETZNER  online',
  'Hetzner Online GmbH',
  'HETZNER ONLINE GMBH 0123',
  'HETZNER ONLINE GMBH GUNZENHAUSEN DE',
  'HETZNER ONLINE 4998315050',
  'HETZNER ONLINE 4711 GUNZENHAUSEN',
  'HETZNER ONLINE           GUNZENHAUSEN DE',
  'Hetzner Online, Gunzenhausen',
  'HETZNER ONLINE #4711',
  'SQ *HETZNER ONLINE',
  'PAYPAL *HETZNER ONLINE 4029357733',
  'Hétzner Online',
])('a payment to %j goes to Hetzner Online', (descriptor) => {
  expect(isDescriptorOf(descriptor, 'Hetzner Online')).toBe(true);
  expect(isDescriptorOf(descriptor, 'Hetzner Online GmbH')).toBe(true);
});

test.each([
  'Hetzner',
  'Online Hetzner',
  'Hetzner Online Refunds',
  'Hetzner Online 24',
  'My Hetzner Online',
  'Hetzner OnlineShop',
  'Неtzner Online',
  'Неtzner Online 0123',
  'Hetzner Online Co-op',
  'SQ *',
  '0123',
  '',
])('a payment to %j does not go to Hetzner Online', (descriptor) => {
  expect(isDescriptorOf(descriptor, 'Hetzner Online')).toBe(false);
});

test.each<[string, string, boolean]>([
  ['PAYPAL *EVILSHOP', 'PayPal', false],
  ['SQ *EVILSHOP', 'Square', false],
  ['MOTEL 6', 'Motel', false],
  ['Studio 54', 'Studio', false],
  ['7-ELEVEN 34512 CHICAGO', '7-Eleven', true],
  ['shop.hetzner.com', 'hetzner.com', true],
  ['hetzner.com.evil.example', 'hetzner.com', false],
  ['Café Müller', 'CAFE MULLER', true],
  ['Неtzner Online', 'НЕtzner online', true],
])('a payment to %j goes to %j: %s', (descriptor, merchant, same) => {
  expect(isDescriptorOf(descriptor, merchant)).toBe(same);
});
