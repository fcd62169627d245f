// node scripts/make-brand-table.mjs FOLDER: writes server/src/purpose/data/brands.txt from a copy of the
// name-suggestion-index (github.com/osmlab/name-suggestion-index, BSD 3-Clause). Run when the list should be newer.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const TARGET = fileURLToPath(new URL('../server/src/purpose/data/brands.txt', import.meta.url));

/** Where the assessor's other tables speak, and the whole world. */
const PLACES = new Set('001 us ca gb de fr es it nl be at ch ie au nz se no dk fi pl pt'.split(' '));

/** Folder and file of the index → trade. An entry ending in `/` stands for all files of the folder not named. */
const TRADE_OF = {
  groceries:
    'shop/supermarket shop/bakery shop/butcher shop/cheese shop/chocolate shop/coffee shop/confectionery shop/convenience shop/dairy shop/deli shop/frozen_food shop/greengrocer shop/health_food shop/pastry shop/seafood shop/spices shop/tea shop/beverages shop/country_store',
  restaurants: 'amenity/fast_food amenity/restaurant amenity/cafe amenity/ice_cream amenity/bar amenity/pub',
  alcohol: 'shop/alcohol shop/wine',
  tobacco: 'shop/tobacco shop/e-cigarette shop/cannabis',
  nuts: 'shop/nuts',
  insurance_and_banking:
    'amenity/bank office/insurance office/financial office/mortgage office/insurance_adjuster office/financial_advisor',
  money_transfer:
    'amenity/money_transfer amenity/bureau_de_change shop/money_lender shop/pawnbroker amenity/atm',
  gambling: 'amenity/casino amenity/gambling shop/bookmaker shop/lottery leisure/adult_gaming_centre',
  vehicle_upkeep:
    'amenity/fuel amenity/charging_station amenity/car_wash amenity/parking amenity/vehicle_inspection shop/car shop/car_parts shop/car_repair shop/motorcycle shop/motorcycle_repair shop/tyres shop/truck shop/truck_repair shop/caravan highway/services',
  car_rental: 'amenity/car_rental amenity/car_sharing amenity/motorcycle_rental',
  local_transport: 'amenity/bicycle_rental amenity/taxi',
  lodging: 'tourism/hotel tourism/motel tourism/hostel',
  holidays: 'tourism/caravan_site tourism/theme_park',
  travel_agency: 'shop/travel_agency',
  medical:
    'amenity/pharmacy amenity/clinic amenity/dentist amenity/doctors amenity/hospital shop/chemist shop/optician shop/hearing_aids shop/medical_supply shop/herbalist shop/nutrition_supplements healthcare/',
  animals: 'amenity/veterinary amenity/animal_boarding shop/pet',
  streaming:
    'amenity/cinema shop/video shop/music leisure/amusement_arcade leisure/escape_game leisure/bowling_alley leisure/trampoline_park leisure/miniature_golf shop/ticket',
  conferences: 'amenity/conference_centre',
  courses:
    'amenity/language_school amenity/music_school amenity/prep_school amenity/driving_school amenity/training amenity/university amenity/college amenity/school shop/books',
  children: 'amenity/childcare amenity/kindergarten shop/baby_goods shop/toys leisure/indoor_play',
  logistics:
    'amenity/parcel_locker amenity/post_office amenity/post_depot office/logistics office/moving_company',
  sport:
    'leisure/fitness_centre leisure/sports_centre shop/sports shop/outdoor shop/bicycle shop/fishing shop/boat',
  beauty:
    'shop/beauty shop/cosmetics shop/hairdresser shop/hairdresser_supply shop/massage shop/perfumery shop/tattoo leisure/sauna',
  clothing:
    'shop/clothes shop/shoes shop/bag shop/fashion_accessories shop/leather shop/tailor shop/shoe_repair',
  luxury: 'shop/jewelry shop/watches shop/gold_buyer',
  office_supplies: 'shop/stationery shop/printer_ink',
  marketing_tools: 'shop/copyshop craft/signmaker shop/photo',
  office_furniture: 'shop/furniture',
  home_goods:
    'shop/appliance shop/bathroom_furnishing shop/bed shop/candles shop/carpet shop/curtain shop/household_linen shop/houseware shop/interior_decoration shop/kitchen shop/lighting shop/pottery shop/vacuum_cleaner shop/hifi shop/window_blind shop/bbq',
  building_materials:
    'shop/doityourself shop/hardware shop/trade shop/paint shop/tiles shop/flooring shop/electrical shop/doors shop/glaziery shop/power_tools shop/tool_hire shop/plant_hire',
  trades_and_repair:
    'craft/carpenter craft/electrician craft/electronics_repair craft/glaziery craft/painter craft/plumber craft/window_construction shop/locksmith shop/pest_control shop/swimming_pool shop/repair shop/groundskeeping',
  cleaning_supplies: 'craft/cleaning shop/dry_cleaning shop/laundry',
  farming_and_garden: 'shop/agrarian shop/garden_centre shop/tractor shop/tractor_repair',
  computer_hardware: 'shop/computer shop/electronics shop/camera',
  telecom: 'office/telecommunication shop/mobile_phone shop/telecommunication amenity/telephone',
  software_subscriptions: 'office/it',
  utilities: 'shop/gas amenity/recycling',
  rent: 'office/coworking office/estate_agent shop/storage_rental shop/rental',
  payroll: 'office/employment_agency',
  professional_services: 'office/consulting office/lawyer office/tax_advisor office/engineer office/security',
  gaming: 'shop/video_games shop/games shop/anime',
  gifts_and_flowers: 'shop/florist shop/gift shop/party shop/pyrotechnics',
  art_and_craft:
    'shop/art shop/craft shop/fabric shop/frame shop/musical_instrument shop/model craft/handicraft',
  adult: 'shop/erotic',
  charity: 'shop/charity',
};

/** Sell nearly everything. */
const GENERAL =
  'shop/department_store shop/variety_store shop/general shop/wholesale shop/catalogue shop/second_hand shop/outpost';

const fold = (name) =>
  name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[’']/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();

/** Names of the brands in one file that have an article in Wikidata and do business in one of the places. */
function namesIn(file) {
  const { items } = JSON.parse(readFileSync(file, 'utf8'));
  return items
    .filter(
      ({ tags, locationSet, displayName }) =>
        tags?.['brand:wikidata'] !== undefined &&
        (locationSet.include ?? []).some((place) => PLACES.has(String(place).split('-')[0])) &&
        /^[\p{Script=Latin}\d '’&.+!-]{3,40}$/u.test(displayName) &&
        /\p{L}{2}/u.test(displayName),
    )
    .map(({ displayName }) => fold(displayName));
}

const [folder] = process.argv.slice(2);
if (folder === undefined) {
  console.error('usage: node scripts/make-brand-table.mjs FOLDER (a copy of the name-suggestion-index)');
  process.exit(2);
}
const root = join(folder, 'data', 'brands');
const trade_of_file = new Map();
for (const [trade, files] of [...Object.entries(TRADE_OF), ['', GENERAL]]) {
  for (const entry of files.split(' ')) {
    const [group, name] = entry.split('/');
    const all =
      name === '' ? readdirSync(join(root, group)).map((file) => file.replace('.json', '')) : [name];
    for (const one of all) trade_of_file.set(`${group}/${one}`, trade);
  }
}
const trades_of_name = new Map();
for (const [file, trade] of trade_of_file) {
  let names = [];
  try {
    names = namesIn(join(root, `${file}.json`));
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
  }
  for (const name of names) trades_of_name.set(name, (trades_of_name.get(name) ?? new Set()).add(trade));
}
const names_of_trade = new Map();
for (const [name, trades] of [...trades_of_name].sort(([a], [b]) => (a < b ? -1 : 1))) {
  for (const trade of trades) names_of_trade.set(trade, [...(names_of_trade.get(trade) ?? []), name]);
}
const sections = [...names_of_trade]
  .sort(([a], [b]) => (a < b ? -1 : 1))
  .map(([trade, names]) => `\n[${trade === '' ? 'general' : trade}]\n${names.join('\n')}\n`);
writeFileSync(
  TARGET,
  `# Brands that many places of the world carry, by trade; [general] holds those that sell nearly everything.
# Taken by scripts/make-brand-table.mjs from the name-suggestion-index (https://github.com/osmlab/name-suggestion-index),
# Copyright name-suggestion-index contributors, BSD 3-Clause License, whose text stands in docs/reference/third-party-data.md.
# Only brands with an article in Wikidata.
${sections.join('')}`,
);
console.log(`${trades_of_name.size} brands of ${names_of_trade.size} trades`);
