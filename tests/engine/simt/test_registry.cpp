// SPDX-License-Identifier: GPL-3.0-or-later
#include "simulator_fixture.h"

using namespace kernelwright;

class RegistryTest : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase() { openSimulator(); }
    void theSimulatorIsListedForEveryGpu();
    void theDefaultIsTheFirstInTheList();
    void simulatorsOpenByName();
    void otherNamesAreRefused_data();
    void otherNamesAreRefused();
};

void RegistryTest::theSimulatorIsListedForEveryGpu()
{
    std::vector<std::string> ids;
    for (const DeviceInfo &info : listDevices())
        if (info.isSimulated) ids.push_back(info.id);
    QCOMPARE(ids.front(), std::string("simt:h200"));
    QVERIFY(std::find(ids.begin(), ids.end(), "simt:orin") != ids.end());
}

void RegistryTest::theDefaultIsTheFirstInTheList()
{
    const auto device = openDevice("");
    QVERIFY2(device, device ? "" : device.error().message.c_str());
    QCOMPARE((*device)->info().id, listDevices().front().id);
}

void RegistryTest::simulatorsOpenByName()
{
    QCOMPARE((*openDevice("simt"))->info().id, std::string("simt:h200"));
    QCOMPARE((*openDevice("simt:rtx4090"))->info().computeCapability, std::string("8.9"));
}

void RegistryTest::otherNamesAreRefused_data()
{
    QTest::addColumn<QByteArray>("id");
    for (const char *id :
         {"gpu", "cuda", "cuda:", "cuda:x", "cuda:-1", "cuda:0x", "simt:", "simt:../h200", "SIMT"})
        QTest::newRow(id) << QByteArray(id);
}

void RegistryTest::otherNamesAreRefused()
{
    QFETCH(QByteArray, id);
    const auto device = openDevice(id.toStdString());
    QVERIFY(!device);
    QCOMPARE(device.error().code, ErrorCode::BadInput);
}

QTEST_GUILESS_MAIN(RegistryTest)
#include "test_registry.moc"
