// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * weir_suspend: keeps QEMU's virtio devices awake while the kernel suspends. They would be
 * reset, and virtio's 9p, on which the guest has its files, does not recover from that.
 */
#include <linux/device.h>
#include <linux/module.h>
#include <linux/pci.h>

static int __init suspend_init(void)
{
	struct pci_dev *dev = NULL;

	while ((dev = pci_get_device(PCI_VENDOR_ID_REDHAT_QUMRANET, PCI_ANY_ID, dev)))
		dev_pm_syscore_device(&dev->dev, true);
	return 0;
}

static void __exit suspend_exit(void)
{
	struct pci_dev *dev = NULL;

	while ((dev = pci_get_device(PCI_VENDOR_ID_REDHAT_QUMRANET, PCI_ANY_ID, dev)))
		dev_pm_syscore_device(&dev->dev, false);
}

module_init(suspend_init);
module_exit(suspend_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Keep virtio devices awake in a test of suspend");
